package io.millrace.system;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads HTTP/1.1 messages from a byte stream strictly. A bare LF, a missing end of a chunk or an early end of the
 * stream is an exception, never a shorter message. Confined to one thread.
 */
final class Wire {

    /** The delimiter of a body (RFC 9112 section 6.3). */
    enum Framing {
        /** No body follows. */
        NONE,
        /** {@code Content-Length}. */
        LENGTH,
        /** {@code Transfer-Encoding: chunked}. */
        CHUNKED,
        /** The body ends with the connection. */
        CLOSE
    }

    /** One field line; the value is without surrounding white space. */
    record Field(String name, String value) {}

    /** A start line and its field lines. Immutable. */
    record Head(String startLine, List<Field> fields) {

        @Nullable
        String field(String name) {
            List<String> values = values(name);
            return values.isEmpty() ? null : values.get(0);
        }

        List<String> values(String name) {
            return fields.stream()
                    .filter(field -> field.name().equalsIgnoreCase(name))
                    .map(Field::value)
                    .toList();
        }

        /** Returns all lines of a field joined with a comma; empty if there is none. */
        String joined(String name) {
            return String.join(", ", values(name));
        }

        boolean has(String name) {
            return field(name) != null;
        }

        boolean listContains(String name, String token) {
            for (String part : joined(name).split(",", -1)) {
                if (part.trim().equalsIgnoreCase(token)) {
                    return true;
                }
            }
            return false;
        }
    }

    private static final int LINE_LENGTH_MAX = 1 << 20;

    private final InputStream in;

    Wire(InputStream in) {
        this.in = new BufferedInputStream(in, 64 * 1024);
    }

    /** Reads a head; returns null if the stream ends before its first byte. */
    @Nullable
    Head head() throws IOException {
        String startLine = line(true);
        if (startLine == null) {
            return null;
        }
        return new Head(startLine, fields());
    }

    private List<Field> fields() throws IOException {
        List<Field> fields = new ArrayList<>();
        while (true) {
            String line = line(false);
            if (line == null || line.isEmpty()) {
                return List.copyOf(fields);
            }
            int colon = line.indexOf(':');
            if (colon <= 0 || line.charAt(0) == ' ' || line.charAt(0) == '\t' || line.charAt(colon - 1) == ' ') {
                throw new IOException("not a field line: " + line);
            }
            fields.add(new Field(
                    line.substring(0, colon), line.substring(colon + 1).strip()));
        }
    }

    private @Nullable String line(boolean endAllowed) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(80);
        while (line.size() < LINE_LENGTH_MAX) {
            int octet = in.read();
            if (octet < 0) {
                if (endAllowed && line.size() == 0) {
                    return null;
                }
                throw new EOFException("the stream ends within a line: " + line.toString(StandardCharsets.ISO_8859_1));
            }
            if (octet == '\r') {
                int next = in.read();
                if (next != '\n') {
                    throw new IOException("CR is followed by " + next);
                }
                return line.toString(StandardCharsets.ISO_8859_1);
            }
            if (octet == '\n') {
                throw new IOException("bare LF after: " + line.toString(StandardCharsets.ISO_8859_1));
            }
            line.write(octet);
        }
        throw new IOException("a line is longer than " + LINE_LENGTH_MAX);
    }

    /** Returns the framing of a request's body. */
    static Framing ofRequest(Head head) throws IOException {
        return explicit(head, Framing.NONE);
    }

    /** Returns the framing of the body of a response with this status to a request with this method. */
    static Framing ofResponse(Head head, int status, boolean toHead) throws IOException {
        if (toHead || status < 200 || status == 204 || status == 304) {
            return Framing.NONE;
        }
        return explicit(head, Framing.CLOSE);
    }

    private static Framing explicit(Head head, Framing otherwise) throws IOException {
        boolean length = head.has("Content-Length");
        if (head.has("Transfer-Encoding")) {
            if (length
                    || !head.joined("Transfer-Encoding")
                            .toLowerCase(Locale.ROOT)
                            .equals("chunked")) {
                throw new IOException("ambiguous framing: " + head);
            }
            return Framing.CHUNKED;
        }
        if (head.values("Content-Length").size() > 1) {
            throw new IOException("more than one Content-Length: " + head);
        }
        return length ? Framing.LENGTH : otherwise;
    }

    /** Returns the body after a head, readable as it arrives; it ends early only with an {@link IOException}. */
    InputStream body(Head head, Framing framing) throws IOException {
        return switch (framing) {
            case NONE -> InputStream.nullInputStream();
            case CLOSE -> in;
            case CHUNKED -> new ChunkedBody();
            case LENGTH -> new FixedBody(contentLength(head));
        };
    }

    private static long contentLength(Head head) throws IOException {
        String value = head.joined("Content-Length");
        if (value.isEmpty() || !value.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw new IOException("not a Content-Length: " + value);
        }
        return Long.parseLong(value);
    }

    /** Returns the next raw octet; -1 at the end of the stream. */
    int read() throws IOException {
        return in.read();
    }

    private final class FixedBody extends InputStream {
        private final long length;
        private long position;

        FixedBody(long length) {
            this.length = length;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] to, int offset, int count) throws IOException {
            if (position == length) {
                return -1;
            }
            int got = in.read(to, offset, (int) Math.min(count, length - position));
            if (got < 0) {
                throw new EOFException("the body ends after " + position + " of " + length + " bytes");
            }
            position += got;
            return got;
        }
    }

    private final class ChunkedBody extends InputStream {
        private long leftInChunk;
        private boolean first = true;
        private boolean ended;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] to, int offset, int count) throws IOException {
            if (count == 0) {
                return 0;
            }
            if (leftInChunk == 0 && !nextChunk()) {
                return -1;
            }
            int got = in.read(to, offset, (int) Math.min(count, leftInChunk));
            if (got < 0) {
                throw new EOFException("the stream ends within a chunk, " + leftInChunk + " bytes short");
            }
            leftInChunk -= got;
            return got;
        }

        private boolean nextChunk() throws IOException {
            if (ended) {
                return false;
            }
            if (!first) {
                String end = line(false);
                if (end == null || !end.isEmpty()) {
                    throw new IOException("a chunk is followed by: " + end);
                }
            }
            first = false;
            String size = line(false);
            if (size == null || size.isEmpty()) {
                throw new IOException("no chunk size");
            }
            int semicolon = size.indexOf(';');
            leftInChunk = Long.parseLong((semicolon < 0 ? size : size.substring(0, semicolon)).strip(), 16);
            if (leftInChunk == 0) {
                fields();
                ended = true;
            }
            return !ended;
        }
    }
}
