package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.cache.LookupSource.Field;
import io.millrace.proxy.admin.resource.AdminException;
import java.util.ArrayList;
import java.util.List;

/** Parser of header fields in query parameters, in the format {@code Name: value}. */
final class HeaderFields {
    private HeaderFields() {}

    /**
     * Reads header fields.
     *
     * @throws AdminException if a line is not a header field
     */
    static List<Field> of(List<String> lines) throws AdminException {
        List<Field> fields = new ArrayList<>();
        for (String line : lines) {
            int colon = line.indexOf(':');
            if (colon <= 0 || !isFieldName(line, colon) || !isFieldValue(line, colon + 1)) {
                throw new AdminException(400, "bad-request", "not a header field in the format 'Name: value': " + line);
            }
            fields.add(new Field(
                    line.substring(0, colon), line.substring(colon + 1).strip()));
        }
        return fields;
    }

    /** Returns true if the characters before {@code end} are a token (RFC 9110 section 5.6.2). */
    private static boolean isFieldName(String line, int end) {
        for (int i = 0; i < end; i++) {
            char c = line.charAt(i);
            boolean isAlphanumeric = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
            if (!isAlphanumeric && "!#$%&'*+-.^_`|~".indexOf(c) < 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean isFieldValue(String line, int from) {
        for (int i = from; i < line.length(); i++) {
            char c = line.charAt(i);
            if ((c < ' ' && c != '\t') || c == 0x7f) {
                return false;
            }
        }
        return true;
    }
}
