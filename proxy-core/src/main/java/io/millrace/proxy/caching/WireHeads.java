package io.millrace.proxy.caching;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.nio.charset.StandardCharsets;

/**
 * Builds wire heads that are derived from a stored head. A wire head is the status line and the field lines, without
 * the empty line. Thread-safe: no state.
 */
public final class WireHeads {

    private static final byte[] NOT_MODIFIED = "HTTP/1.1 304 Not Modified\r\n".getBytes(StandardCharsets.ISO_8859_1);
    private static final byte[] PARTIAL = "HTTP/1.1 206 Partial Content\r\n".getBytes(StandardCharsets.ISO_8859_1);

    private static final FieldName[] REPRESENTATION = {
        FieldName.CONTENT_LENGTH,
        FieldName.CONTENT_TYPE,
        FieldName.CONTENT_ENCODING,
        FieldName.CONTENT_LANGUAGE,
        FieldName.CONTENT_RANGE
    };

    private WireHeads() {}

    /**
     * Returns the head of a 304, without the fields about the content. Leaves out Last-Modified too if the response has
     * an entity tag, which is enough for a cache (RFC 9110 s15.4.5).
     */
    static byte[] notModified(FieldSection stored, boolean hasEntityTag) {
        FieldSection.Builder fields = FieldSection.builder();
        for (int line = 0; line < stored.size(); line++) {
            boolean redundant = hasEntityTag && stored.isNamed(line, FieldName.LAST_MODIFIED);
            if (!redundant && !isOneOf(stored, line, REPRESENTATION)) {
                fields.addLine(stored, line);
            }
        }
        return joined(NOT_MODIFIED, fields.build());
    }

    static byte[] partial(FieldSection stored, long first, long last, long length) {
        FieldSection.Builder fields = FieldSection.builder();
        for (int line = 0; line < stored.size(); line++) {
            boolean replaced =
                    stored.isNamed(line, FieldName.CONTENT_LENGTH) || stored.isNamed(line, FieldName.CONTENT_RANGE);
            if (!replaced) {
                fields.addLine(stored, line);
            }
        }
        fields.add(FieldName.CONTENT_RANGE, new ContentRange(first, last, length).text());
        fields.add(FieldName.CONTENT_LENGTH, last - first + 1);
        return joined(PARTIAL, fields.build());
    }

    /** Returns status line and fields in one array. */
    static byte[] joined(byte[] statusLine, FieldSection fields) {
        // The first bytes of a built section are its wire format.
        int length = fields.wireLength();
        byte[] wire = new byte[statusLine.length + length];
        System.arraycopy(statusLine, 0, wire, 0, statusLine.length);
        System.arraycopy(fields.bytes(), 0, wire, statusLine.length, length);
        return wire;
    }

    /**
     * Returns true if the field of this line is never copied into a stored head: Age, Content-Length or one of RFC 9111
     * s3.1.
     */
    public static boolean isNeverStored(FieldSection fields, int line) {
        return isOneOf(fields, line, StoredHeadBuilder.NOT_STORED);
    }

    /** Returns true if a field line has one of the names. */
    public static boolean isOneOf(FieldSection fields, int line, FieldName[] names) {
        for (FieldName name : names) {
            if (fields.isNamed(line, name)) {
                return true;
            }
        }
        return false;
    }
}
