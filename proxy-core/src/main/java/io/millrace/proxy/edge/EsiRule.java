package io.millrace.proxy.edge;

import io.millrace.proxy.config.edge.EsiConfig;
import io.millrace.proxy.esi.SurrogateControl;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import org.jspecify.annotations.Nullable;

/** The settings for the assembly of pages (ESI) of one remap rule. Immutable. */
public final class EsiRule {
    private static final String HTML = "text/html";

    private final EsiConfig config;

    EsiRule(EsiConfig config) {
        this.config = config;
    }

    /**
     * Returns the settings of a remap rule; null if it assembles no pages.
     *
     * @param edge settings of all rules; null for none
     * @param rule index of the rule; negative for none
     */
    public static @Nullable EsiRule of(@Nullable EdgeRules edge, int rule) {
        return edge == null ? null : edge.esi(rule);
    }

    /** The limits. */
    public EsiConfig config() {
        return config;
    }

    /**
     * Returns true if a response with these fields is an ESI document, whatever its status.
     *
     * @param fields fields as the origin sent them, or as they are stored
     */
    public boolean isDocument(FieldSection fields) {
        return SurrogateControl.asksForEsi(fields) || (config.when() == EsiConfig.When.ALWAYS && isPlainHtml(fields));
    }

    /**
     * Returns false if a response is certainly no document.
     *
     * @param head head in HTTP/1.1 format: status line and field lines; borrowed
     */
    public boolean mayBeDocument(byte[] head) {
        return config.when() == EsiConfig.When.ALWAYS || SurrogateControl.CONTROL.isLineOf(head);
    }

    private static boolean isPlainHtml(FieldSection fields) {
        String type = fields.get(FieldName.CONTENT_TYPE);
        return type != null && type.regionMatches(true, 0, HTML, 0, HTML.length()) && !isEncoded(fields);
    }

    /** Returns true if the content has a coding such as gzip, so that its markup cannot be read. */
    public static boolean isEncoded(FieldSection fields) {
        String coding = fields.get(FieldName.CONTENT_ENCODING);
        return coding != null && !coding.equalsIgnoreCase("identity");
    }
}
