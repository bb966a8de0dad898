package io.millrace.proxy.caching;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import org.jspecify.annotations.Nullable;

/**
 * The value of Content-Range in a 206 with one part: {@code bytes first-last/length} (RFC 9110 s14.4). Immutable.
 *
 * @param first position of the first byte
 * @param last position of the last byte
 * @param length length of the whole content, or {@link StoredHead#UNKNOWN}
 */
public record ContentRange(long first, long last, long length) {

    private static final String UNIT = "bytes";

    /** Parses the field. Returns null when it is missing, repeated, malformed, in another unit or invalid by s14.4. */
    public static @Nullable ContentRange of(FieldSection fields) {
        int line = fields.find(FieldName.CONTENT_RANGE);
        if (line < 0 || fields.next(FieldName.CONTENT_RANGE, line) >= 0) {
            return null;
        }
        byte[] b = fields.bytes();
        int from = fields.valueStart(line);
        int to = fields.valueEnd(line);
        int unitEnd = from + UNIT.length();
        if (unitEnd >= to || !FieldLexer.equalsIgnoreCase(b, from, unitEnd, UNIT) || !FieldLexer.isSpace(b[unitEnd])) {
            return null;
        }
        int start = FieldLexer.skipSpace(b, unitEnd, to);
        int dash = indexOf(b, start, to, '-');
        int slash = indexOf(b, start, to, '/');
        if (dash < 0 || slash < dash) {
            return null;
        }
        long first = FieldLexer.number(b, start, dash);
        long last = FieldLexer.number(b, dash + 1, slash);
        boolean unknown = to - slash == 2 && b[slash + 1] == '*';
        long length = unknown ? StoredHead.UNKNOWN : FieldLexer.number(b, slash + 1, to);
        boolean valid = first >= 0 && last >= first && last < Long.MAX_VALUE && (unknown || length > last);
        return valid ? new ContentRange(first, last, length) : null;
    }

    private static int indexOf(byte[] b, int from, int to, char wanted) {
        for (int i = from; i < to; i++) {
            if (b[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    /** Number of bytes of the part. */
    public long bytes() {
        return last - first + 1;
    }

    /** The position after the last byte. */
    public long end() {
        return last + 1;
    }

    /** Returns true if the part is the whole content. */
    public boolean isWhole() {
        return first == 0 && end() == length;
    }

    /** Returns true if the part contains all bytes of {@code [from, to)}. */
    public boolean covers(long from, long to) {
        return first <= from && to <= end();
    }

    /** Returns the field's value. */
    public String text() {
        return "bytes " + first + "-" + last + "/" + (length == StoredHead.UNKNOWN ? "*" : Long.toString(length));
    }
}
