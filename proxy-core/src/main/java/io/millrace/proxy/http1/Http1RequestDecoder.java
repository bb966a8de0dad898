package io.millrace.proxy.http1;

import io.millrace.proxy.http.ChunkLines;
import io.millrace.proxy.http.HeadScanner;
import io.millrace.proxy.net.BadRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.util.ReferenceCountUtil;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A strict HTTP/1.1 request decoder that uses Netty's decoder for content. It buffers a head until the head is
 * complete. {@link ParsedRequest} then parses the head by the grammar of RFC 9112, and only accepted heads go to
 * Netty's decoder. Netty joins folded lines, accepts several spaces as one, and prefers Transfer-Encoding to
 * Content-Length. Such requests are refused, so that both parsers understand an accepted request in the same way
 * (RFC 9112 s2.2, s3, s5.2, s6.3).
 *
 * <p>A request that a {@link PlainRequestScanner} recognizes has no content and bypasses Netty's decoder.
 *
 * <p>Bytes after a request that may switch to another protocol ({@link ParsedRequest#mayLeaveHttp}) are held.
 * {@link #continueHttp} decodes them as the next request. If this handler is removed from the pipeline instead, it
 * passes the held bytes on unchanged.
 *
 * <p>Output per request: a {@link ParsedRequest}. After an accepted request, Netty's content objects follow; the last
 * is a LastHttpContent.
 *
 * <p>Confined to one event loop.
 */
final class Http1RequestDecoder extends HttpRequestDecoder {
    /** Largest piece of content that is passed on, in bytes. */
    private static final int CHUNK_BYTES_MAX = 64 * 1024;
    /**
     * Limit in bytes of a line and of a field section in Netty's decoder. Netty cannot change it later, so it is the
     * upper bound of the configurable limits, which this class enforces.
     */
    private static final int NETTY_BYTES_MAX = 1024 * 1024;

    private enum Phase {
        HEAD,
        CONTENT,
        /** The next bytes are a request or another protocol, depending on the pending response. */
        HELD,
        /** A request was refused: later bytes have no meaning. */
        BROKEN
    }

    private final Http1Connection connection;
    private final HeadScanner scanner = new HeadScanner();
    /** The scanner of the event loop; null for none. */
    private final @Nullable PlainRequestScanner plainScanner;

    private final ChunkLines lines = new ChunkLines();

    private Phase phase = Phase.HEAD;
    /** Limit of the field section, as configured when the request's head arrived. */
    private int headerBytesMax;

    /** @param plainScanner recognizes plain requests, shared by the connections of the loop; null for none */
    Http1RequestDecoder(Http1Connection connection, @Nullable PlainRequestScanner plainScanner) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(NETTY_BYTES_MAX)
                .setMaxHeaderSize(NETTY_BYTES_MAX)
                .setMaxChunkSize(CHUNK_BYTES_MAX)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setHeadersFactory(DefaultHttpHeadersFactory.headersFactory().withValidation(true))
                .setTrailersFactory(DefaultHttpHeadersFactory.trailersFactory().withValidation(true)));
        this.connection = connection;
        this.plainScanner = plainScanner;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        if (message instanceof ByteBuf bytes && bytes.isReadable()) {
            if (isEmpty() && answersAll(bytes)) {
                bytes.release();
                return;
            }
            connection.onBytes(bytes.readableBytes());
        }
        super.channelRead(ctx, message);
    }

    /** Keeps buffered bytes when the client shuts down its output; Netty's decoder would drop them. */
    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event instanceof ChannelInputShutdownEvent) {
            ctx.fireUserEventTriggered(event);
        } else {
            super.userEventTriggered(ctx, event);
        }
    }

    /** Lets the TLS fast lane answer requests. Returns true if no bytes are left for this decoder. */
    private boolean answersAll(ByteBuf bytes) {
        try {
            connection.answerByFastLane(bytes);
        } catch (RuntimeException | Error e) {
            bytes.release();
            throw e;
        }
        return !bytes.isReadable();
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        switch (phase) {
            case HEAD -> decodeHead(ctx, in, out);
            case CONTENT -> decodeContent(ctx, in, out);
            case HELD -> connection.onHeld();
            case BROKEN -> in.skipBytes(in.readableBytes());
        }
    }

    private void decodeHead(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (scanner.startLineLength() == 0 && skipEmptyLines(in)) {
            scanner.reset();
        }
        Http1Settings settings = connection.settings();
        int lineBytesMax = settings.requestLineBytesMax();
        headerBytesMax = settings.headerBytesMax();
        int length = scanner.scan(in, lineBytesMax + headerBytesMax + 1);
        int lineLength = scanner.startLineLength();
        if (lineLength > lineBytesMax || (lineLength == 0 && in.readableBytes() > lineBytesMax)) {
            refuse(BadRequest.LINE_TOO_LONG, in, out);
        } else if ((length < 0 ? in.readableBytes() : length) - lineLength > headerBytesMax) {
            refuse(BadRequest.HEADER_TOO_LARGE, in, out);
        } else if (length >= 0) {
            byte[] bytes = new byte[length];
            in.getBytes(in.readerIndex(), bytes);
            if (isPlain(bytes)) {
                takePlain(bytes, in, out);
            } else {
                take(ctx, in, out, ParsedRequest.of(bytes, lineLength, connection.client()));
            }
            scanner.reset();
        }
    }

    private boolean isPlain(byte[] head) {
        return plainScanner != null && plainScanner.scan(head, 0, head.length, connection.settings()) == head.length;
    }

    /** Takes a plain request. Netty's decoder would accept the same head with the same meaning; there is no content. */
    private void takePlain(byte[] head, ByteBuf in, List<Object> out) {
        PlainRequestScanner scanned = Objects.requireNonNull(plainScanner);
        in.skipBytes(head.length);
        out.add(ParsedRequest.ofPlain(scanned.head(), 0, scanned.isPersistent(), head, scanned.lineLength()));
        out.add(LastHttpContent.EMPTY_LAST_CONTENT);
    }

    /** Returns true if no byte has arrived since the end of the last request. */
    boolean isEmpty() {
        return phase == Phase.HEAD && actualReadableBytes() == 0;
    }

    private void take(ChannelHandlerContext ctx, ByteBuf in, List<Object> out, ParsedRequest parsed) throws Exception {
        BadRequest problem = parsed.problem();
        if (problem != null) {
            refuse(problem, in, out);
            return;
        }
        int first = out.size();
        super.decode(ctx, in, out);
        if (out.size() == first
                || !(out.get(first) instanceof HttpMessage message)
                || message.decoderResult().isFailure()) {
            while (out.size() > first) {
                ReferenceCountUtil.release(out.remove(out.size() - 1));
            }
            refuse(BadRequest.SYNTAX, in, out);
            return;
        }
        out.set(first, parsed);
        phase = Phase.CONTENT;
        afterContent(out);
        if (parsed.mayLeaveHttp() && phase == Phase.HEAD) {
            phase = Phase.HELD;
        }
    }

    /** Continues with HTTP: decodes the held bytes as the next request. */
    void continueHttp(ChannelHandlerContext ctx) {
        if (phase == Phase.HELD) {
            phase = Phase.HEAD;
            if (actualReadableBytes() > 0) {
                ctx.executor().execute(() -> decodeHeld(ctx));
            }
        }
    }

    /**
     * Decodes the buffered bytes. They must not pass the TLS handler of the pipeline again, since they are already
     * decrypted.
     */
    private void decodeHeld(ChannelHandlerContext ctx) {
        if (ctx.isRemoved()) {
            return;
        }
        if (actualReadableBytes() > 0) {
            connection.onBytes(actualReadableBytes());
        }
        try {
            channelRead(ctx, Unpooled.EMPTY_BUFFER);
            channelReadComplete(ctx);
        } catch (Exception e) {
            ctx.fireExceptionCaught(e);
        }
    }

    /** Decodes content. Fails the request if its chunk lines or trailers exceed the limit of the field section. */
    private void decodeContent(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        int before = in.readableBytes();
        int first = out.size();
        super.decode(ctx, in, out);
        int contentBytes = 0;
        for (int i = first; i < out.size(); i++) {
            contentBytes += out.get(i) instanceof HttpContent content
                    ? content.content().readableBytes()
                    : 0;
        }
        long linesBytes = lines.after(before, in.readableBytes(), out.size() > first, contentBytes);
        // If Netty refuses the content, it consumes all remaining bytes; they do not count as a line.
        if (linesBytes > headerBytesMax && !isRefused(out)) {
            while (out.size() > first) {
                ReferenceCountUtil.release(out.remove(out.size() - 1));
            }
            LastHttpContent end = new DefaultLastHttpContent();
            end.setDecoderResult(DecoderResult.failure(new TooLongHttpHeaderException(
                    "a chunk's line or trailers: actual=" + linesBytes + ", limit=" + headerBytesMax)));
            out.add(end);
            phase = Phase.BROKEN;
        } else {
            afterContent(out);
        }
    }

    private static boolean isRefused(List<Object> out) {
        return !out.isEmpty()
                && out.get(out.size() - 1) instanceof HttpObject last
                && last.decoderResult().isFailure();
    }

    private void afterContent(List<Object> out) {
        if (!out.isEmpty() && out.get(out.size() - 1) instanceof LastHttpContent) {
            phase = Phase.HEAD;
        }
    }

    private void refuse(BadRequest problem, ByteBuf in, List<Object> out) {
        phase = Phase.BROKEN;
        in.skipBytes(in.readableBytes());
        out.add(ParsedRequest.refused(problem));
    }

    /** Skips empty lines before a request line (RFC 9112 s2.2). */
    private static boolean skipEmptyLines(ByteBuf in) {
        int before = in.readerIndex();
        while (in.readableBytes() >= 2
                && in.getByte(in.readerIndex()) == '\r'
                && in.getByte(in.readerIndex() + 1) == '\n') {
            in.skipBytes(2);
        }
        return in.readerIndex() > before;
    }

    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        throw new IllegalArgumentException("Content-Length together with Transfer-Encoding");
    }
}
