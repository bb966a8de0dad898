package io.millrace.proxy.fetch.response;

import io.millrace.proxy.http.ChunkLines;
import io.millrace.proxy.http.HeadScanner;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A strict decoder of HTTP/1.1 responses from origins, which uses Netty's decoder for chunks.
 *
 * <p>A head is buffered until it is complete. Then {@link ResponseGrammar} and {@link FramingDecision} check its bytes
 * and determine the framing. This class itself delimits content with a length, and content that ends with the
 * connection. Chunked content goes to Netty's decoder after a generated minimal head. Netty joins folded lines, ignores
 * white space before a colon, and prefers Transfer-Encoding to Content-Length. Such responses are refused here, because
 * two parsers could frame them differently. The output per response is
 *
 * <pre>
 * ReceivedHead*  (interim)   ReceivedHead   HttpContent*   LastHttpContent     or at any point   BadResponse
 * </pre>
 *
 * Bytes that arrive while no response is expected also give a {@link BadResponse}. After a 101 no bytes are parsed,
 * because they belong to another protocol. They are passed on when this handler is removed from the pipeline.
 *
 * <p>Confined to one event loop.
 */
public final class OriginResponseDecoder extends HttpResponseDecoder {

    /** An accepted head. {@code reusable} is true if the connection may carry another request after this response. */
    public record ReceivedHead(ResponseHead head, ResponseFraming framing, boolean reusable) {}

    /** The received bytes are unusable; the connection must be closed. */
    public record BadResponse(String problem) {}

    /** Limit of interim responses before the final one; more count as an endless loop. */
    private static final int INTERIM_MAX = 32;

    /**
     * Limit in bytes of a line and of trailers in Netty's decoder. Netty cannot change it later, so it is the upper
     * bound of the configurable limit {@link #headMax}, which this class enforces.
     */
    private static final int NETTY_BYTES_MAX = 1 << 20;

    /**
     * Largest piece of content that is passed on: the size of the largest receive buffer, so that no buffer is split.
     */
    private static final int CONTENT_PIECE_MAX = 64 << 10;

    private enum Phase {
        /** No response is expected. */
        NONE,
        HEAD,
        /** Content of {@link #remaining} more bytes. */
        LENGTH,
        CHUNKS,
        /** Content up to the connection's end. */
        CLOSE,
        /** The connection uses another protocol. */
        SWITCHED,
        /** The received bytes are unusable: all later bytes are discarded. */
        BROKEN
    }

    /** The head that Netty's decoder gets for chunked content. */
    private static final byte[] CHUNKED_HEAD =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final ChunkLines lines = new ChunkLines();
    private final HeadScanner scanner = new HeadScanner();
    private Phase phase = Phase.NONE;
    private boolean headRequest;
    private boolean connectRequest;
    private @Nullable String upgrade;
    /** Limit in bytes of a head, of a chunk's line, and of trailers. */
    private int headMax;

    private long remaining;
    private int interimCount;
    private boolean anyBytes;
    private boolean bytesLeftOver;

    public OriginResponseDecoder() {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(NETTY_BYTES_MAX)
                .setMaxHeaderSize(NETTY_BYTES_MAX)
                .setMaxChunkSize(CONTENT_PIECE_MAX)
                .setAllowDuplicateContentLengths(false)
                .setValidateHeaders(true));
    }

    /**
     * Called when a request was sent: the next bytes are its response.
     *
     * @param offered the protocols of its Upgrade field; null for none
     * @param headBytesMax limit in bytes of a head, of a chunk's line, and of trailers
     */
    public void expectResponse(boolean toHeadRequest, boolean toConnect, @Nullable String offered, int headBytesMax) {
        assert phase == Phase.NONE;
        phase = Phase.HEAD;
        headRequest = toHeadRequest;
        connectRequest = toConnect;
        upgrade = offered;
        headMax = headBytesMax;
        scanner.reset();
        interimCount = 0;
        anyBytes = false;
    }

    /** Called for a tunnel: all bytes belong to the new owner of the connection. */
    public void expectTunnel() {
        phase = Phase.SWITCHED;
    }

    /** Returns true if any byte has arrived since {@link #expectResponse}. */
    public boolean hasAnyBytes() {
        return anyBytes;
    }

    /** Returns true if the last read contained more bytes after the response. */
    public boolean hasRemainingBytes() {
        return bytesLeftOver;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (!in.isReadable()) {
            return;
        }
        anyBytes = true;
        switch (phase) {
            case NONE -> broken("bytes after the last response", in, out);
            case HEAD -> decodeHead(ctx, in, out);
            case LENGTH -> decodeLength(in, out);
            case CHUNKS -> decodeChunks(ctx, in, out);
            case CLOSE -> out.add(piece(in, Math.min(in.readableBytes(), CONTENT_PIECE_MAX)));
            case SWITCHED -> {}
            case BROKEN -> in.skipBytes(in.readableBytes());
        }
    }

    @Override
    protected void decodeLast(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        super.decodeLast(ctx, in, out);
        if (phase == Phase.CHUNKS) {
            afterChunk(in, out);
        } else if (phase == Phase.CLOSE) {
            ended(in, out);
        }
    }

    private void decodeChunks(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
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
        if (linesBytes > headMax && !isRefused(out)) {
            discard(out, first);
            broken("malformed content: a chunk's line or trailers of more than " + headMax + " bytes", in, out);
        } else {
            afterChunk(in, out);
        }
    }

    private static boolean isRefused(List<Object> out) {
        return !out.isEmpty()
                && out.get(out.size() - 1) instanceof HttpObject last
                && last.decoderResult().isFailure();
    }

    private void decodeLength(ByteBuf in, List<Object> out) {
        int length = (int) Math.min(Math.min(in.readableBytes(), CONTENT_PIECE_MAX), remaining);
        remaining -= length;
        out.add(piece(in, length));
        if (remaining == 0) {
            ended(in, out);
        }
    }

    /** Returns the next bytes as a slice with its own reference. */
    private static HttpContent piece(ByteBuf in, int length) {
        return new DefaultHttpContent(in.readRetainedSlice(length));
    }

    /** Ends the complete response. */
    private void ended(ByteBuf in, List<Object> out) {
        out.add(LastHttpContent.EMPTY_LAST_CONTENT);
        phase = Phase.NONE;
        bytesLeftOver = in.isReadable();
    }

    private void decodeHead(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        int length = scanner.scan(in);
        if (length < 0 ? in.readableBytes() > headMax : length > headMax) {
            broken("response head of more than " + headMax + " bytes", in, out);
            return;
        }
        if (length < 0) {
            return;
        }
        scanner.reset();
        byte[] bytes = new byte[length];
        in.readBytes(bytes);
        ResponseHead head = ResponseGrammar.parse(bytes);
        if (head == null) {
            broken("malformed response head: " + ResponseGrammar.problem(bytes), in, out);
            return;
        }
        if (connectRequest && head.isSuccessful()) {
            // Framing fields have no meaning in this response (RFC 9110 s9.3.6).
            phase = Phase.SWITCHED;
            out.add(new ReceivedHead(head, ResponseFraming.NO_CONTENT, false));
            return;
        }
        FramingDecision decision = FramingDecision.of(head, headRequest, upgrade);
        if (decision instanceof FramingDecision.Rejected rejected) {
            broken(rejected.problem(), in, out);
        } else if (decision instanceof FramingDecision.Framed framed) {
            framedHead(ctx, in, out, new ReceivedHead(head, framed.framing(), framed.reusable()));
        }
    }

    private void framedHead(ChannelHandlerContext ctx, ByteBuf in, List<Object> out, ReceivedHead received)
            throws Exception {
        if (received.head().status() == 101) {
            phase = Phase.SWITCHED;
            out.add(received);
            return;
        }
        if (received.head().isInterim()) {
            if (++interimCount > INTERIM_MAX) {
                broken("more than " + INTERIM_MAX + " interim responses", in, out);
            } else {
                out.add(received);
            }
            return;
        }
        out.add(received);
        switch (received.framing().kind()) {
            case NONE -> ended(in, out);
            case LENGTH -> {
                remaining = received.framing().contentLength();
                phase = Phase.LENGTH;
                if (remaining == 0) {
                    ended(in, out);
                }
            }
            case CHUNKED -> {
                phase = Phase.CHUNKS;
                expectChunks(ctx, out);
            }
            case CLOSE -> phase = Phase.CLOSE;
        }
    }

    /** Brings Netty's decoder into the state before the first chunk. */
    private void expectChunks(ChannelHandlerContext ctx, List<Object> out) throws Exception {
        int first = out.size();
        ByteBuf head = Unpooled.wrappedBuffer(CHUNKED_HEAD);
        super.decode(ctx, head, out);
        assert !head.isReadable() && out.size() == first + 1 : out;
        discard(out, first);
    }

    private void afterChunk(ByteBuf in, List<Object> out) {
        if (out.isEmpty() || !(out.get(out.size() - 1) instanceof HttpObject last)) {
            return;
        }
        if (last.decoderResult().isFailure()) {
            String problem = problem(last);
            discard(out, out.size() - 1);
            broken("malformed content: " + problem, in, out);
        } else if (last instanceof LastHttpContent) {
            phase = Phase.NONE;
            bytesLeftOver = in.isReadable();
        }
    }

    private void broken(String problem, ByteBuf in, List<Object> out) {
        phase = Phase.BROKEN;
        in.skipBytes(in.readableBytes());
        out.add(new BadResponse(problem));
    }

    private static void discard(List<Object> out, int from) {
        while (out.size() > from) {
            ReferenceCountUtil.release(out.remove(out.size() - 1));
        }
    }

    private static String problem(HttpObject object) {
        DecoderResult result = object.decoderResult();
        Throwable cause = result.cause();
        return cause == null
                ? "not a response"
                : cause.getClass().getSimpleName() + (cause.getMessage() == null ? "" : ": " + cause.getMessage());
    }
}
