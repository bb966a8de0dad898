package io.millrace.proxy.fetch;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldNames;
import io.millrace.proxy.http.FieldSection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;

/**
 * Writes requests in HTTP/1.1 syntax (RFC 9112 s3, s5, s6, s7.1):
 *
 * <pre>
 * METHOD target HTTP/1.1 CRLF
 * the request's fields, except the connection fields
 * [Connection: close CRLF | Connection: Upgrade CRLF Upgrade: protocols CRLF]
 * [Connection: TE CRLF TE: trailers CRLF]
 * [Content-Length: n CRLF | Transfer-Encoding: chunked CRLF]
 * CRLF
 * </pre>
 *
 * <p>Thread-safe: no state.
 */
final class RequestEncoder {

    private static final byte[] VERSION = ascii(" HTTP/1.1\r\n");
    private static final byte[] CONNECTION_CLOSE = ascii("Connection: close\r\n");
    private static final byte[] CONNECTION_UPGRADE = ascii("Connection: Upgrade\r\nUpgrade: ");
    private static final byte[] TRAILERS_WANTED = ascii("Connection: TE\r\nTE: trailers\r\n");
    private static final byte[] CHUNKED = ascii("Transfer-Encoding: chunked\r\n");
    private static final byte[] CONTENT_LENGTH = ascii("Content-Length: ");
    private static final byte[] CRLF = ascii("\r\n");
    private static final byte[] LAST_CHUNK = ascii("0\r\n\r\n");

    /**
     * Fields that this encoder writes itself or omits. A caller's line with such a name could contradict the framing.
     */
    private static final FieldNames NOT_COPIED = FieldNames.of(
            FieldName.CONNECTION,
            FieldName.CONTENT_LENGTH,
            FieldName.TRANSFER_ENCODING,
            FieldName.KEEP_ALIVE,
            FieldName.PROXY_CONNECTION,
            FieldName.TE,
            FieldName.UPGRADE);

    private RequestEncoder() {}

    /** Returns the head of a request. Caller releases. */
    static ByteBuf head(OriginRequest request, ByteBufAllocator allocator) {
        FieldSection fields = request.fields();
        byte[] target = request.target();
        ByteBuf out = allocator.ioBuffer(256 + target.length + (fields.size() == 0 ? 0 : fields.bytes().length));
        ByteBufUtil.writeAscii(out, request.methodName());
        out.writeByte(' ').writeBytes(target).writeBytes(VERSION);
        writeFields(fields, out);
        String upgrade = request.upgrade();
        if (upgrade != null) {
            out.writeBytes(CONNECTION_UPGRADE);
            ByteBufUtil.writeAscii(out, upgrade);
            out.writeBytes(CRLF);
        } else if ((!request.settings().keepAlive() || request.needsOwnConnection()) && !request.isConnect()) {
            out.writeBytes(CONNECTION_CLOSE);
        }
        if (request.isTrailersWanted() && upgrade == null) {
            out.writeBytes(TRAILERS_WANTED);
        }
        if (request.hasContent()) {
            if (request.contentLength() < 0) {
                out.writeBytes(CHUNKED);
            } else {
                out.writeBytes(CONTENT_LENGTH);
                ByteBufUtil.writeAscii(out, Long.toString(request.contentLength()));
                out.writeBytes(CRLF);
            }
        }
        return out.writeBytes(CRLF);
    }

    /** Returns the line before a chunk's bytes. Caller releases. */
    static ByteBuf chunkStart(int length, ByteBufAllocator allocator) {
        ByteBuf out = allocator.ioBuffer(10);
        ByteBufUtil.writeAscii(out, Integer.toHexString(length));
        return out.writeBytes(CRLF);
    }

    /** Returns the line end after a chunk's bytes. Caller releases. */
    static ByteBuf chunkEnd(ByteBufAllocator allocator) {
        return allocator.ioBuffer(2).writeBytes(CRLF);
    }

    /** Returns the last chunk, without trailers. Caller releases. */
    static ByteBuf lastChunk(ByteBufAllocator allocator) {
        return allocator.ioBuffer(5).writeBytes(LAST_CHUNK);
    }

    private static void writeFields(FieldSection fields, ByteBuf out) {
        if (!NOT_COPIED.isAnyIn(fields)) {
            fields.writeTo(out);
            return;
        }
        for (int line = 0; line < fields.size(); line++) {
            if (!NOT_COPIED.contains(fields, line)) {
                fields.writeLineTo(line, out);
            }
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
