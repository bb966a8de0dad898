package io.millrace.proxy.edge;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import io.millrace.proxy.http.ResponseHead;
import java.nio.charset.StandardCharsets;

/**
 * The fields of the CORS protocol. Removes them from stored responses, and Origin from origin requests. Stateless.
 */
public final class CorsFields {
    static final FieldName ALLOW_ORIGIN = FieldName.of("Access-Control-Allow-Origin");
    static final FieldName ALLOW_CREDENTIALS = FieldName.of("Access-Control-Allow-Credentials");
    static final FieldName ALLOW_METHODS = FieldName.of("Access-Control-Allow-Methods");
    static final FieldName ALLOW_HEADERS = FieldName.of("Access-Control-Allow-Headers");
    static final FieldName ALLOW_PRIVATE_NETWORK = FieldName.of("Access-Control-Allow-Private-Network");
    static final FieldName EXPOSE_HEADERS = FieldName.of("Access-Control-Expose-Headers");
    static final FieldName MAX_AGE = FieldName.of("Access-Control-Max-Age");
    static final FieldName REQUEST_METHOD = FieldName.of("Access-Control-Request-Method");

    private static final String PREFIX = "access-control-";

    private CorsFields() {}

    /**
     * Returns the response of an origin server without its CORS fields, and without Origin in Vary. This proxy adds its
     * own CORS fields at delivery, so the stored response does not depend on Origin.
     */
    public static ResponseHead withoutCors(ResponseHead head) {
        FieldSection fields = head.fields();
        boolean isChanged = variesByOrigin(fields);
        for (int line = 0; line < fields.size() && !isChanged; line++) {
            isChanged = isCors(fields, line);
        }
        if (!isChanged) {
            return head;
        }
        FieldSection.Builder kept = FieldSection.builderLike(fields);
        for (int line = 0; line < fields.size(); line++) {
            if (!isCors(fields, line) && !fields.isNamed(line, FieldName.VARY)) {
                kept.addLine(fields, line);
            }
        }
        String vary = varyWithoutOrigin(fields);
        if (!vary.isEmpty()) {
            kept.add(FieldName.VARY, vary);
        }
        return head.withFields(kept.build());
    }

    /**
     * Returns the fields of a request without Origin, so that the response of the origin server cannot depend on
     * Origin.
     */
    public static FieldSection withoutOrigin(FieldSection fields) {
        return fields.contains(FieldName.ORIGIN)
                ? FieldSection.builderLike(fields)
                        .addAll(fields)
                        .remove(FieldName.ORIGIN)
                        .build()
                : fields;
    }

    private static boolean isCors(FieldSection fields, int line) {
        int start = fields.nameStart(line);
        return fields.nameEnd(line) - start > PREFIX.length()
                && fields.name(line).regionMatches(true, 0, PREFIX, 0, PREFIX.length());
    }

    private static boolean variesByOrigin(FieldSection fields) {
        return fields.contains(FieldName.VARY) && fields.hasToken(FieldName.VARY, FieldName.ORIGIN.text());
    }

    private static String varyWithoutOrigin(FieldSection fields) {
        StringBuilder kept = new StringBuilder();
        ListCursor members = ListCursor.over(fields, FieldName.VARY);
        while (members.next()) {
            String member = new String(
                    members.bytes(), members.start(), members.end() - members.start(), StandardCharsets.ISO_8859_1);
            if (!member.equalsIgnoreCase(FieldName.ORIGIN.text())) {
                kept.append(kept.length() == 0 ? "" : ", ").append(member);
            }
        }
        return kept.toString();
    }
}
