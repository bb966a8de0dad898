package io.millrace.proxy.serve;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.validate.RangeSelection.ByteRange;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The layout of a multipart/byteranges message (RFC 9110 s14.6). It contains several ranges of a content, in the
 * order of the request:
 *
 * <pre>
 * CRLF --boundary CRLF
 * Content-Type: ... CRLF             if the complete response has one
 * Content-Range: bytes a-b/n CRLF
 * CRLF
 * bytes a to b
 * ...                                once for each range
 * CRLF --boundary-- CRLF
 * </pre>
 *
 * <p>The boundary is derived from the ranges and the time of the stored response, so that equal requests receive
 * equal bytes. It is harmless if the boundary occurs in the content, because recipients use the lengths of the
 * ranges.
 *
 * <p>Immutable.
 */
public final class ByteRanges {
    /** One range, with the boundary and fields that precede its content. */
    static final class Part {
        private final byte[] preface;
        private final ByteRange range;

        Part(byte[] preface, ByteRange range) {
            this.preface = preface;
            this.range = range;
        }

        byte[] preface() {
            return preface;
        }

        ByteRange range() {
            return range;
        }
    }

    private final List<Part> parts;
    private final byte[] closing;
    private final String boundary;
    private final long totalBytes;

    private ByteRanges(List<Part> parts, byte[] closing, String boundary, long totalBytes) {
        this.parts = List.copyOf(parts);
        this.closing = closing;
        this.boundary = boundary;
        this.totalBytes = totalBytes;
    }

    /**
     * Builds the message.
     *
     * @param ranges at least two, each within the content
     * @param length length of the whole content
     */
    static ByteRanges of(List<ByteRange> ranges, StoredHead stored, long length) {
        String boundary = boundary(ranges, stored);
        String type = stored.fields().get(FieldName.CONTENT_TYPE);
        String typeLine = type == null ? "" : "Content-Type: " + type + "\r\n";
        List<Part> parts = new ArrayList<>(ranges.size());
        long total = 0;
        for (ByteRange range : ranges) {
            byte[] preface = latin1("\r\n--" + boundary + "\r\n" + typeLine + "Content-Range: bytes " + range.first()
                    + "-" + range.last() + "/" + length + "\r\n\r\n");
            parts.add(new Part(preface, range));
            total += preface.length + range.length();
        }
        byte[] closing = latin1("\r\n--" + boundary + "--\r\n");
        return new ByteRanges(parts, closing, boundary, total + closing.length);
    }

    private static String boundary(List<ByteRange> ranges, StoredHead stored) {
        long mixed = stored.responseTimeMillis();
        for (ByteRange range : ranges) {
            mixed = mixed * 0x9e37_79b9_7f4a_7c15L + range.first() * 31 + range.last();
        }
        return "part-" + Long.toHexString(mixed);
    }

    private static byte[] latin1(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Length of the message in bytes. */
    long totalBytes() {
        return totalBytes;
    }

    List<Part> parts() {
        return parts;
    }

    /** The bytes after the last range. */
    byte[] closing() {
        return closing;
    }

    /**
     * Fills the response head: status 206, with the Content-Type multipart/byteranges and without Content-Range (RFC
     * 9110 s15.3.7.2).
     */
    OutboundHead fill(OutboundHead head, StoredHead stored) {
        FieldSection whole = stored.fields();
        FieldSection.Builder fields = FieldSection.builder();
        for (int line = 0; line < whole.size(); line++) {
            boolean replaced = whole.isNamed(line, FieldName.CONTENT_LENGTH)
                    || whole.isNamed(line, FieldName.CONTENT_RANGE)
                    || whole.isNamed(line, FieldName.CONTENT_TYPE);
            if (!replaced) {
                fields.addLine(whole, line);
            }
        }
        fields.add(FieldName.CONTENT_TYPE, "multipart/byteranges; boundary=" + boundary);
        return head.reset(206, "Partial Content", fields.build()).contentLength(totalBytes);
    }
}
