package io.millrace.proxy.http1;

import io.millrace.proxy.http.OutboundHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.AsciiString;

/**
 * Writes response heads in HTTP/1.1 syntax (RFC 9112 s4). The order is status line, fields of the response, fields
 * added by rules, Age, Via, Cache-Status, Content-Range, Strict-Transport-Security, framing, Connection.
 *
 * <p>Thread-safe: no state.
 */
public final class Http1HeadWriter {
    private static final byte[] HTTP_1_1 = ascii("HTTP/1.1 ");
    private static final byte[] CRLF = ascii("\r\n");
    private static final byte[] AGE = ascii("Age: ");
    private static final byte[] VIA = ascii("Via: ");
    private static final byte[] CACHE_STATUS = ascii("Cache-Status: ");
    private static final byte[] CONTENT_RANGE = ascii("Content-Range: ");
    private static final byte[] STRICT_TRANSPORT_SECURITY = ascii("Strict-Transport-Security: ");
    private static final byte[] CONTENT_LENGTH = ascii("Content-Length: ");
    private static final byte[] CHUNKED = ascii("Transfer-Encoding: chunked\r\n");
    private static final byte[] CLOSE = ascii("Connection: close\r\n");
    private static final byte[] KEEP_ALIVE = ascii("Connection: keep-alive\r\n");

    /** The framing of a response: how the client detects the end of the content. */
    public enum Framing {
        /**
         * There is no content and no framing field: 1xx and 204. If the length is unknown, also 304 and responses to
         * HEAD.
         */
        NONE,
        /** Content-Length. */
        LENGTH,
        /** Transfer-Encoding: chunked. */
        CHUNKED,
        /** The end of the connection. */
        CLOSE;

        /** Returns the framing of a response to a client of HTTP/1.{@code minorVersion} (RFC 9112 s6.3). */
        static Framing of(OutboundHead head, int minorVersion) {
            if (head.status() == 204) {
                return NONE;
            }
            if (head.contentLength() >= 0) {
                return LENGTH;
            }
            if (isContentForbidden(head)) {
                return NONE;
            }
            return minorVersion == 0 ? CLOSE : CHUNKED;
        }
    }

    /** The value of the Connection field. */
    public enum Persistence {
        /** No field: the default of HTTP/1.1, the connection persists. */
        DEFAULT,
        /** {@code keep-alive}, for HTTP/1.0 clients that requested it. */
        KEEP_ALIVE,
        /** {@code close}. */
        CLOSE;

        /** Returns the value for a client of HTTP/1.{@code minorVersion} (RFC 9112 s9.3). */
        static Persistence of(boolean close, int minorVersion) {
            if (close) {
                return CLOSE;
            }
            return minorVersion == 0 ? KEEP_ALIVE : DEFAULT;
        }
    }

    private Http1HeadWriter() {}

    /** Returns true if the response has no content, regardless of its Content-Length (RFC 9110 s6.4.1). */
    static boolean isContentForbidden(OutboundHead head) {
        return head.isContentForbidden() || head.status() == 204 || head.status() == 304;
    }

    /** Appends a head to {@code out}; borrows both. */
    public static void write(OutboundHead head, Framing framing, Persistence persistence, ByteBuf out) {
        byte[] wire = head.wire();
        if (wire != null && head.isWireTrimmed()) {
            head.writeTrimmedWire(out);
        } else if (wire != null) {
            out.writeBytes(wire);
        } else {
            out.writeBytes(HTTP_1_1);
            writeDecimal(out, head.status());
            out.writeByte(' ');
            ByteBufUtil.writeAscii(out, head.reason());
            out.writeBytes(CRLF);
            if (head.isEdited()) {
                head.writeKeptFields(out);
            } else {
                head.fields().writeTo(out);
            }
        }
        if (head.isEdited()) {
            head.writeAdded(out);
        }
        if (head.ageSeconds() >= 0) {
            out.writeBytes(AGE);
            writeDecimal(out, head.ageSeconds());
            out.writeBytes(CRLF);
        }
        writeValue(out, VIA, head.via());
        ByteBuf cacheStatus = head.cacheStatus();
        if (cacheStatus.isReadable()) {
            out.writeBytes(CACHE_STATUS);
            out.writeBytes(cacheStatus, cacheStatus.readerIndex(), cacheStatus.readableBytes());
            out.writeBytes(CRLF);
        }
        writeValue(out, CONTENT_RANGE, head.contentRange());
        writeValue(out, STRICT_TRANSPORT_SECURITY, head.strictTransportSecurity());
        if (framing == Framing.CHUNKED) {
            out.writeBytes(CHUNKED);
        } else if (framing == Framing.LENGTH && !head.isLengthInWire()) {
            out.writeBytes(CONTENT_LENGTH);
            writeDecimal(out, head.contentLength());
            out.writeBytes(CRLF);
        }
        if (persistence == Persistence.CLOSE) {
            out.writeBytes(CLOSE);
        } else if (persistence == Persistence.KEEP_ALIVE) {
            out.writeBytes(KEEP_ALIVE);
        }
        out.writeBytes(CRLF);
    }

    /** Estimates the length in bytes that {@link #write} appends. Used to allocate the buffer. The buffer can grow. */
    public static int sizeEstimate(OutboundHead head) {
        return 256
                + head.reason().length()
                + head.fields().wireLength()
                + head.addedLength()
                + head.cacheStatus().readableBytes();
    }

    private static void writeValue(ByteBuf out, byte[] name, @org.jspecify.annotations.Nullable AsciiString value) {
        if (value != null) {
            out.writeBytes(name);
            out.writeBytes(value.array(), value.arrayOffset(), value.length());
            out.writeBytes(CRLF);
        }
    }

    /** Appends a non-negative number without creating a string. */
    static void writeDecimal(ByteBuf out, long value) {
        if (value < 10) {
            out.writeByte('0' + (int) value);
            return;
        }
        int digits = 1;
        for (long rest = value; rest >= 10; rest /= 10) {
            digits++;
        }
        int start = out.writerIndex();
        out.ensureWritable(digits);
        long rest = value;
        for (int i = digits - 1; i >= 0; i--) {
            out.setByte(start + i, '0' + (int) (rest % 10));
            rest /= 10;
        }
        out.writerIndex(start + digits);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    }
}
