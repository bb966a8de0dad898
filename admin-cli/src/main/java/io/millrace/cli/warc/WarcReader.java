package io.millrace.cli.warc;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the records of a WARC 1.0 or 1.1 file from a decompressed stream. The caller reads the block of each record
 * step by step, so a block may exceed the memory. Confined to one thread.
 */
public final class WarcReader implements Closeable {
    /** Limit of the head of a record in bytes. */
    static final int HEAD_BYTES_MAX = 64 << 10;

    private final InputStream in;
    private final byte[] buffer = new byte[64 << 10];
    private int position;
    private int limit;
    /** Number of bytes of the current block that were not read yet. */
    private long left;

    private @Nullable WarcDigest digest;
    private boolean isFirst = true;

    /** @param in the decompressed file, which this reader closes */
    public WarcReader(InputStream in) {
        this.in = in;
    }

    /**
     * The head of a record. Immutable.
     *
     * @param fields values by name in lower case. Of a repeated field only the first value is kept. The exception is
     *     {@code warc-concurrent-to}: its values are joined with spaces
     * @param length length of the block in bytes
     */
    public record Head(Map<String, String> fields, long length) {
        /** Returns the value of a field; an empty string if the field is missing. */
        public String field(String name) {
            return fields.getOrDefault(name, "");
        }
    }

    /**
     * Skips the rest of the current block and reads the head of the next record. Returns null at the end of the file.
     *
     * @throws EOFException if the file is empty, or ends inside a record
     * @throws ProtocolException if the bytes are not a record; the message describes the problem
     */
    public @Nullable Head next() throws IOException {
        skip();
        if (!isFirst) {
            for (int i = 0; i < 2; i++) {
                if (!line(true).isEmpty()) {
                    throw new ProtocolException("a record does not end with two line ends");
                }
            }
        }
        if (position == limit && !fill()) {
            if (isFirst) {
                throw new EOFException();
            }
            return null;
        }
        isFirst = false;
        String version = line(false);
        if (!version.equals("WARC/1.1") && !version.equals("WARC/1.0")) {
            String shown = version.length() > 40 ? version.substring(0, 40) : version;
            throw new ProtocolException("expected WARC/1.1 or WARC/1.0 at the beginning of a record, not: " + shown);
        }
        Map<String, String> fields = fields();
        left = length(fields.getOrDefault("content-length", ""));
        digest = null;
        String expected = fields.getOrDefault("warc-block-digest", "");
        if (!expected.isEmpty()) {
            digest = WarcDigest.of(expected.substring(0, Math.max(0, expected.indexOf(':'))));
        }
        return new Head(Map.copyOf(fields), left);
    }

    private Map<String, String> fields() throws IOException {
        Map<String, String> fields = new LinkedHashMap<>();
        int bytes = 0;
        String last = "";
        for (String line = line(false); !line.isEmpty(); line = line(false)) {
            bytes += line.length() + 2;
            if (bytes > HEAD_BYTES_MAX) {
                throw new ProtocolException("the head of a record is longer than " + HEAD_BYTES_MAX + " bytes");
            }
            boolean isContinued = line.charAt(0) == ' ' || line.charAt(0) == '\t';
            int colon = line.indexOf(':');
            if (isContinued && !last.isEmpty()) {
                fields.merge(last, line.strip(), (begin, more) -> begin + " " + more);
            } else if (colon > 0) {
                last = line.substring(0, colon).strip().toLowerCase(Locale.ROOT);
                add(fields, last, line.substring(colon + 1).strip());
            } else {
                throw new ProtocolException("the head of a record has a line without a name");
            }
        }
        return fields;
    }

    private static void add(Map<String, String> fields, String name, String value) {
        if (name.equals("warc-concurrent-to")) {
            fields.merge(name, value, (first, next) -> first + " " + next);
        } else {
            fields.putIfAbsent(name, value);
        }
    }

    private static long length(String digits) throws ProtocolException {
        try {
            long length = digits.length() > 18 ? -1 : Long.parseLong(digits);
            if (length >= 0) {
                return length;
            }
        } catch (NumberFormatException e) {
            throw new ProtocolException("a record without a valid Content-Length");
        }
        throw new ProtocolException("a record without a valid Content-Length");
    }

    /** Reads up to {@code length} bytes of the block; returns -1 at its end. */
    public int read(byte[] into, int offset, int length) throws IOException {
        if (left == 0) {
            return -1;
        }
        if (position == limit && !fill()) {
            throw new EOFException();
        }
        int count = (int) Math.min(Math.min(length, left), limit - position);
        System.arraycopy(buffer, position, into, offset, count);
        consume(count);
        return count;
    }

    private void consume(int count) {
        if (digest != null) {
            digest.update(buffer, position, count);
        }
        position += count;
        left -= count;
    }

    /** Reads {@code length} bytes of the block, or all remaining bytes if there are fewer. */
    public byte[] readFully(int length) throws IOException {
        byte[] bytes = new byte[(int) Math.min(length, left)];
        int at = 0;
        while (at < bytes.length) {
            at += read(bytes, at, bytes.length - at);
        }
        return bytes;
    }

    /**
     * Reads the head of an HTTP message at the beginning of the block, including its empty line.
     *
     * @return the head without the empty line; null if the head does not end within {@code bytesMax}
     */
    public byte @Nullable [] readHttpHead(int bytesMax) throws IOException {
        byte[] head = new byte[bytesMax + 2];
        int length = 0;
        while (length < head.length && left > 0) {
            read(head, length, 1);
            length++;
            if (length >= 4
                    && head[length - 1] == '\n'
                    && head[length - 2] == '\r'
                    && head[length - 3] == '\n'
                    && head[length - 4] == '\r') {
                return Arrays.copyOf(head, length - 2);
            }
        }
        return null;
    }

    /** Skips the rest of the block. The skipped bytes still count for the digest. */
    public void skip() throws IOException {
        while (left > 0) {
            if (position == limit && !fill()) {
                throw new EOFException();
            }
            consume((int) Math.min(left, limit - position));
        }
    }

    /** Returns the number of bytes of the block that were not read yet. */
    public long left() {
        return left;
    }

    /**
     * Compares the digest of the block with the digest in the head of its record. To be called after the whole block
     * was read or skipped.
     *
     * @return true if both are equal or the head has no digest; false if they differ or the algorithm is unknown
     */
    public boolean isIntact(Head head) {
        String expected = head.field("warc-block-digest");
        WarcDigest made = digest;
        if (expected.isEmpty()) {
            return true;
        }
        digest = null;
        return made != null && made.matches(expected.substring(expected.indexOf(':') + 1));
    }

    private String line(boolean mayEnd) throws IOException {
        byte[] bytes = new byte[256];
        int length = 0;
        while (true) {
            if (position == limit && !fill()) {
                if (mayEnd && length == 0) {
                    return "";
                }
                throw new EOFException();
            }
            byte octet = buffer[position++];
            if (octet == '\n') {
                int end = length > 0 && bytes[length - 1] == '\r' ? length - 1 : length;
                return new String(bytes, 0, end, StandardCharsets.UTF_8);
            }
            if (length == HEAD_BYTES_MAX) {
                throw new ProtocolException("a line in the head of a record is longer than " + length + " bytes");
            }
            if (length == bytes.length) {
                bytes = Arrays.copyOf(bytes, 2 * length);
            }
            bytes[length++] = octet;
        }
    }

    private boolean fill() throws IOException {
        int count = in.read(buffer, 0, buffer.length);
        position = 0;
        limit = Math.max(0, count);
        return count > 0;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
