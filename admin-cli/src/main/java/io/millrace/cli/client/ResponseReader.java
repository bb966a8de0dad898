package io.millrace.cli.client;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Reads one complete HTTP/1.1 response (RFC 9112) from a channel. The body has a Content-Length, is chunked, or ends
 * with the connection. Reading throws a {@link ProtocolException} if the response violates the protocol or exceeds a
 * limit, and an {@link EOFException} if it is truncated. Confined to one thread.
 */
final class ResponseReader {
    /** Limit in bytes of a head or trailer section. Responses of the admin API are far shorter. */
    static final int HEAD_LENGTH_MAX = 64 << 10;

    /** Limit of a body in bytes, longer than any list of metrics. Bounds the memory if the peer is not Millrace. */
    static final int BODY_LENGTH_MAX = 64 << 20;

    private final ReadableByteChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocate(16 << 10).flip();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream(1024);
    private int headBytesLeft = HEAD_LENGTH_MAX;
    private boolean started;

    // These fields hold values of the last head that was read.
    private int status;
    private long contentLength;
    private boolean chunked;

    ResponseReader(ReadableByteChannel channel) {
        this.channel = channel;
    }

    /** Whether any byte of a response was received. */
    boolean hasStarted() {
        return started;
    }

    /** Reads the response; interim responses (1xx) are skipped. */
    AdminResponse read() throws IOException {
        do {
            readHead();
        } while (status < 200);
        if (status != 204 && status != 304) {
            readBody();
        }
        return new AdminResponse(status, body.toByteArray());
    }

    private void readHead() throws IOException {
        contentLength = -1;
        chunked = false;
        status = statusOf(readLine());
        for (String line = readLine(); !line.isEmpty(); line = readLine()) {
            int colon = line.indexOf(':');
            if (colon <= 0) {
                throw new ProtocolException("a header line without a name: " + shortened(line));
            }
            String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
            String value = line.substring(colon + 1).strip();
            if (name.equals("content-length")) {
                long length = decimal(value);
                if (contentLength >= 0 && contentLength != length) {
                    throw new ProtocolException("two different Content-Length fields");
                }
                contentLength = length;
            } else if (name.equals("transfer-encoding")) {
                if (!value.equalsIgnoreCase("chunked") || chunked) {
                    throw new ProtocolException("an unknown transfer coding: " + shortened(value));
                }
                chunked = true;
            }
        }
        if (chunked && contentLength >= 0) {
            throw new ProtocolException("both Content-Length and Transfer-Encoding");
        }
    }

    private static int statusOf(String line) throws ProtocolException {
        if (line.startsWith("HTTP/1.") && line.length() >= 12 && line.charAt(8) == ' ') {
            long status = decimal(line.substring(9, 12));
            if (status >= 100 && status <= 599 && (line.length() == 12 || line.charAt(12) == ' ')) {
                return (int) status;
            }
        }
        throw new ProtocolException("it starts with '" + shortened(line) + "' and is not HTTP/1.1");
    }

    private void readBody() throws IOException {
        if (chunked) {
            for (long length = readChunkLength(); length > 0; length = readChunkLength()) {
                readContent(length);
                if (!readLine().isEmpty()) {
                    throw new ProtocolException("a chunk is longer than its declared length");
                }
            }
            while (!readLine().isEmpty()) {
                // skips a trailer field
            }
        } else if (contentLength >= 0) {
            readContent(contentLength);
        } else {
            do {
                take(buffer.remaining());
            } while (fill());
        }
    }

    private long readChunkLength() throws IOException {
        String line = readLine();
        // The limit applies to each chunk line alone. Otherwise the many chunk lines of a long body would exceed it.
        headBytesLeft = HEAD_LENGTH_MAX;
        int end = line.indexOf(';');
        String digits = (end < 0 ? line : line.substring(0, end)).strip();
        if (digits.isEmpty() || digits.length() > 8) {
            throw new ProtocolException("invalid length of a chunk: " + shortened(line));
        }
        long length = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = Character.digit(digits.charAt(i), 16);
            if (digit < 0) {
                throw new ProtocolException("invalid length of a chunk: " + shortened(line));
            }
            length = length * 16 + digit;
        }
        return length;
    }

    private void readContent(long length) throws IOException {
        checkLimit(length);
        long left = length;
        while (left > 0) {
            if (!buffer.hasRemaining() && !fill()) {
                throw new EOFException("it ends " + left + " bytes too early");
            }
            int count = (int) Math.min(left, buffer.remaining());
            take(count);
            left -= count;
        }
    }

    /** Moves {@code count} bytes from the buffer to the body. */
    private void take(int count) throws IOException {
        checkLimit(count);
        body.write(buffer.array(), buffer.position(), count);
        buffer.position(buffer.position() + count);
    }

    private void checkLimit(long more) throws ProtocolException {
        if (body.size() + more > BODY_LENGTH_MAX) {
            throw new ProtocolException("it is longer than " + BODY_LENGTH_MAX + " bytes");
        }
    }

    /** Reads a line without its end; LF alone also ends a line (RFC 9112 section 2.2). */
    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder(64);
        while (true) {
            if (!buffer.hasRemaining() && !fill()) {
                throw new EOFException("the connection was closed before its " + (started ? "end" : "first byte"));
            }
            int octet = buffer.get() & 0xff;
            if (--headBytesLeft < 0) {
                throw new ProtocolException("its head is longer than " + HEAD_LENGTH_MAX + " bytes");
            }
            if (octet == '\n') {
                int length = line.length();
                if (length > 0 && line.charAt(length - 1) == '\r') {
                    line.setLength(length - 1);
                }
                return line.toString();
            }
            line.append((char) octet);
        }
    }

    /** Reads more bytes into the empty buffer; returns false at the end of the connection. */
    private boolean fill() throws IOException {
        buffer.clear();
        int count = channel.read(buffer);
        buffer.flip();
        started |= count > 0;
        return count > 0;
    }

    private static long decimal(String digits) throws ProtocolException {
        boolean valid = !digits.isEmpty() && digits.length() <= 18;
        long value = 0;
        for (int i = 0; i < digits.length() && valid; i++) {
            int digit = digits.charAt(i) - '0';
            valid = digit >= 0 && digit <= 9;
            value = value * 10 + digit;
        }
        if (!valid) {
            throw new ProtocolException("not a number: " + shortened(digits));
        }
        return value;
    }

    private static String shortened(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        StringBuilder shown = new StringBuilder();
        for (int i = 0; i < bytes.length && i < 40; i++) {
            shown.append(bytes[i] < 0x20 || bytes[i] == 0x7f ? '?' : (char) bytes[i]);
        }
        return bytes.length > 40 ? shown + "..." : shown.toString();
    }
}
