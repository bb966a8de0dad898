package io.millrace.proxy.esi;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;

/** The properties of response fields that decide whether a response is an ESI document, as bits. No state. */
public final class DocumentProperties {
    /** Surrogate-Control asks for ESI. */
    public static final int ASKED = 1;

    /** The content is of type text/html, without a content coding. */
    public static final int UNENCODED_HTML = 1 << 1;

    private static final String HTML = "text/html";

    private DocumentProperties() {}

    /** Returns the bits of the properties that the fields of a response have. */
    public static int of(FieldSection fields) {
        return (SurrogateControl.asksForEsi(fields) ? ASKED : 0) | (isUnencodedHtml(fields) ? UNENCODED_HTML : 0);
    }

    private static boolean isUnencodedHtml(FieldSection fields) {
        String type = fields.get(FieldName.CONTENT_TYPE);
        return type != null && isHtml(type) && !isEncoded(fields);
    }

    private static boolean isHtml(String type) {
        int end = HTML.length();
        return type.regionMatches(true, 0, HTML, 0, end)
                && (type.length() == end || " \t;".indexOf(type.charAt(end)) >= 0);
    }

    /** Returns true if the content has a coding such as gzip, so that its markup cannot be read. */
    public static boolean isEncoded(FieldSection fields) {
        String coding = fields.get(FieldName.CONTENT_ENCODING);
        return coding != null && !coding.equalsIgnoreCase("identity");
    }
}
