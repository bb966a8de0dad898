package io.millrace.proxy.access;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads the scheme that trusted proxies give in X-Forwarded-Proto and Forwarded (RFC 7239 s5.4). */
final class ForwardedScheme {
    private static final String PROTO = "proto=";

    private ForwardedScheme() {}

    /**
     * Returns true if the fields contain the scheme https and no other. The client itself may have sent all members but
     * the last. Therefore any other scheme makes the result false. The last element of Forwarded must have a scheme.
     */
    static boolean isHttps(FieldSection fields) {
        boolean found = false;
        ListCursor protos = ListCursor.over(fields, FieldName.X_FORWARDED_PROTO);
        while (protos.next()) {
            if (!"https".equalsIgnoreCase(text(protos))) {
                return false;
            }
            found = true;
        }
        boolean lastHasProto = true;
        ListCursor elements = ListCursor.over(fields, FieldName.FORWARDED);
        while (elements.next()) {
            String proto = protoOf(text(elements));
            lastHasProto = proto != null;
            if (proto != null && !"https".equalsIgnoreCase(proto)) {
                return false;
            }
            found |= lastHasProto;
        }
        return found && lastHasProto;
    }

    private static String text(ListCursor cursor) {
        return new String(cursor.bytes(), cursor.start(), cursor.end() - cursor.start(), StandardCharsets.ISO_8859_1);
    }

    /** Returns the value of proto in one element of Forwarded; null if there is none. */
    private static @Nullable String protoOf(String element) {
        boolean quoted = false;
        int start = 0;
        for (int i = 0; i <= element.length(); i++) {
            char c = i < element.length() ? element.charAt(i) : ';';
            if (c == '"') {
                quoted = !quoted;
            } else if (c == '\\' && quoted) {
                i++;
            } else if (c == ';' && (!quoted || i >= element.length())) {
                String pair =
                        element.substring(start, Math.min(i, element.length())).strip();
                if (pair.regionMatches(true, 0, PROTO, 0, PROTO.length())) {
                    return unquoted(pair.substring(PROTO.length()));
                }
                start = i + 1;
            }
        }
        return null;
    }

    private static String unquoted(String value) {
        boolean quoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
        return quoted ? value.substring(1, value.length() - 1) : value;
    }
}
