package io.millrace.proxy.caching.field;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.io.ByteArrayOutputStream;

/** Extracts single cookies from Cookie fields (RFC 6265 s4.2.1, s5.4). Thread-safe: no state. */
public final class CookieValues {
    private CookieValues() {}

    /**
     * Appends the unchanged values of all cookies of that name, each followed by a semicolon.
     *
     * @return whether there is one
     */
    public static boolean append(FieldSection fields, String name, ByteArrayOutputStream to) {
        boolean found = false;
        byte[] bytes = fields.bytes();
        for (int line = fields.find(FieldName.COOKIE); line >= 0; line = fields.next(FieldName.COOKIE, line)) {
            int end = fields.valueEnd(line);
            for (int start = fields.valueStart(line); start < end; ) {
                int pairEnd = indexOf(bytes, (byte) ';', start, end);
                int nameStart = skip(bytes, start, pairEnd);
                int equals = indexOf(bytes, (byte) '=', nameStart, pairEnd);
                // Some recipients ignore white space after the name.
                if (isNamed(bytes, nameStart, trimmedEnd(bytes, nameStart, equals), name)) {
                    int valueStart = Math.min(equals + 1, pairEnd);
                    to.write(bytes, valueStart, pairEnd - valueStart);
                    to.write(';');
                    found = true;
                }
                start = pairEnd + 1;
            }
        }
        return found;
    }

    private static boolean isNamed(byte[] bytes, int from, int to, String name) {
        if (to - from != name.length()) {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            if (bytes[from + i] != (byte) name.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private static int skip(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && (bytes[i] == ' ' || bytes[i] == '\t')) {
            i++;
        }
        return i;
    }

    private static int trimmedEnd(byte[] bytes, int from, int to) {
        int end = to;
        while (end > from && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t')) {
            end--;
        }
        return end;
    }

    private static int indexOf(byte[] bytes, byte wanted, int from, int to) {
        int i = from;
        while (i < to && bytes[i] != wanted) {
            i++;
        }
        return i;
    }
}
