package io.millrace.cli.warm;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads HTTP/1.1 responses to GET requests from one connection (RFC 9112). The content is passed on or discarded.
 * Confined to one thread. Blocks.
 */
final class ReplyReader {
    /** Limit of a head or trailer section in bytes. */
    private static final int HEAD_LENGTH_MAX = 256 << 10;

    private final InputStream in;
    private final byte[] buffer = new byte[16 << 10];
    private int position;
    private int limit;
    private int headBytesLeft;
    private long deadlineNanos;
    private boolean started;
    private boolean closes;

    // These fields belong to the response that is being read.
    private int status;
    private long length;
    private long bytes;
    private boolean chunked;
    private @Nullable String cacheStatus;
    private @Nullable String cacheControl;
    private boolean setsCookie;

    ReplyReader(InputStream in) {
        this.in = in;
    }

    /** Prepares for the next response, which must be complete at {@code untilNanos}. */
    void begin(long untilNanos) {
        deadlineNanos = untilNanos;
        started = position < limit;
    }

    /** Whether a byte of the response was received. */
    boolean hasStarted() {
        return started;
    }

    /** Whether another request may be sent on the connection. */
    boolean isReusable() {
        return !closes && position == limit;
    }

    /** @param into receives the content of a response with status 200; null for none */
    ProxyReply read(@Nullable OutputStream into) throws IOException {
        do {
            readHead();
        } while (status < 200);
        bytes = 0;
        if (status != 204 && status != 304) {
            readBody(status == 200 ? into : null);
        }
        return new ProxyReply(status, cacheStatus, cacheControl, setsCookie, bytes);
    }

    private void readHead() throws IOException {
        headBytesLeft = HEAD_LENGTH_MAX;
        String first = line();
        if (!first.startsWith("HTTP/1.") || first.length() < 12) {
            throw new ProtocolException("the response is not HTTP/1.1");
        }
        status = (int) number(first.substring(9, 12), 10);
        closes = first.charAt(7) == '0';
        length = -1;
        chunked = false;
        cacheStatus = null;
        cacheControl = null;
        setsCookie = false;
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            if (colon <= 0) {
                throw new ProtocolException("the response has a header line without a name");
            }
            field(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
    }

    private void field(String name, String value) throws IOException {
        switch (name) {
            case "content-length" -> length = number(value, 10);
            case "transfer-encoding" -> chunked = value.toLowerCase(Locale.ROOT).endsWith("chunked");
            case "connection" -> closes |= value.toLowerCase(Locale.ROOT).contains("close");
            case "cache-status" -> cacheStatus = value;
            case "cache-control" -> cacheControl = cacheControl == null ? value : cacheControl + ", " + value;
            case "set-cookie" -> setsCookie = true;
            default -> {}
        }
    }

    private void readBody(@Nullable OutputStream into) throws IOException {
        if (chunked) {
            for (long chunk = chunkLength(); chunk > 0; chunk = chunkLength()) {
                content(chunk, into);
                line();
            }
            headBytesLeft = HEAD_LENGTH_MAX;
            while (!line().isEmpty()) {
                // A trailer field.
            }
        } else if (length >= 0) {
            content(length, into);
        } else {
            closes = true;
            while (position < limit || fill()) {
                take(limit - position, into);
            }
        }
    }

    private long chunkLength() throws IOException {
        headBytesLeft = HEAD_LENGTH_MAX;
        String line = line();
        int end = line.indexOf(';');
        return number((end < 0 ? line : line.substring(0, end)).strip(), 16);
    }

    private void content(long count, @Nullable OutputStream into) throws IOException {
        long left = count;
        while (left > 0) {
            if (position == limit && !fill()) {
                throw new EOFException("the response ends " + left + " bytes too early");
            }
            int part = (int) Math.min(left, limit - position);
            take(part, into);
            left -= part;
        }
    }

    private void take(int count, @Nullable OutputStream into) throws IOException {
        if (into != null) {
            into.write(buffer, position, count);
        }
        position += count;
        bytes += count;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder(64);
        while (true) {
            if (position == limit && !fill()) {
                throw new EOFException("the connection was closed before the response was complete");
            }
            int octet = buffer[position++] & 0xff;
            if (--headBytesLeft < 0) {
                throw new ProtocolException("the head of the response is longer than " + HEAD_LENGTH_MAX + " bytes");
            }
            if (octet == '\n') {
                int end = line.length();
                if (end > 0 && line.charAt(end - 1) == '\r') {
                    line.setLength(end - 1);
                }
                return line.toString();
            }
            line.append((char) octet);
        }
    }

    private boolean fill() throws IOException {
        if (System.nanoTime() - deadlineNanos > 0) {
            throw new SocketTimeoutException("the response takes too long");
        }
        int count = in.read(buffer, 0, buffer.length);
        position = 0;
        limit = Math.max(0, count);
        started |= count > 0;
        return count > 0;
    }

    private static long number(String digits, int radix) throws ProtocolException {
        try {
            long number = digits.isEmpty() || digits.length() > 15 ? -1 : Long.parseLong(digits, radix);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw new ProtocolException("not a number in the head of the response: " + digits);
        }
        throw new ProtocolException("not a number in the head of the response: " + digits);
    }
}
