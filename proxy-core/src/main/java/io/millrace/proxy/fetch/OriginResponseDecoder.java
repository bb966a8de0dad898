package io.millrace.proxy.fetch;

import io.millrace.proxy.http.HeadScanner;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.List;

/**
 * Netty's response decoder behind our own reading of the head.
 *
 * <p>A head is held back until all of it is there. Then its bytes are checked and framed by {@link ResponseGrammar} and {@link FramingDecision}; only a head that
 * passes is given to Netty's decoder, which then cuts the content. So nothing that two readers could frame differently gets through: Netty joins folded lines,
 * passes over white space before a colon and lets Transfer-Encoding win over Content-Length, and we refuse these. It hands on, per response,
 *
 * <pre>
 * ReceivedHead*  (interim)   ReceivedHead   HttpContent*   LastHttpContent     or at any point   BadResponse
 * </pre>
 *
 * and a {@link BadResponse} for bytes that no request asked for.
 *
 * <p>Confined to one event loop.
 */
final class OriginResponseDecoder extends HttpResponseDecoder {

    /** A head that passed. {@code reusable}: the connection may carry another request after this response. */
    record ReceivedHead(ResponseHead head, ResponseFraming framing, boolean reusable) {}

    /** What came cannot be used; the connection can only be closed. */
    record BadResponse(String problem) {}

    /** Most interim responses before the final one; more are taken for a loop. */
    private static final int INTERIM_MAX = 32;

    /** Largest piece of content handed on at once: the largest receive buffer, so that none is cut in two for nothing. */
    private static final int CONTENT_PIECE_MAX = 64 << 10;

    private enum Phase {
        /** No response is expected. */
        NONE,
        HEAD,
        CONTENT,
        /** Framing is lost. */
        BROKEN
    }

    private final int headMax;
    private final HeadScanner scanner = new HeadScanner();
    private Phase phase = Phase.NONE;
    private boolean headRequest;
    private int interimCount;
    private boolean anyBytes;
    private boolean bytesLeftOver;

    OriginResponseDecoder(int headMax) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(headMax)
                .setMaxHeaderSize(headMax)
                .setMaxChunkSize(CONTENT_PIECE_MAX)
                .setAllowDuplicateContentLengths(false)
                .setValidateHeaders(true));
        this.headMax = headMax;
    }

    /** A request was sent: the next bytes are its response. */
    void expectResponse(boolean toHeadRequest) {
        assert phase == Phase.NONE;
        phase = Phase.HEAD;
        headRequest = toHeadRequest;
        scanner.reset();
        interimCount = 0;
        anyBytes = false;
    }

    /** Whether any byte came since {@link #expectResponse}. */
    boolean hasAnyBytes() {
        return anyBytes;
    }

    /** Whether more bytes lay behind the last response, in the same read. */
    boolean hasBytesLeftOver() {
        return bytesLeftOver;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (!in.isReadable()) {
            return;
        }
        anyBytes = true;
        switch (phase) {
            case NONE -> broken("bytes that belong to no request", in, out);
            case HEAD -> decodeHead(ctx, in, out);
            case CONTENT -> {
                super.decode(ctx, in, out);
                afterContent(in, out);
            }
            case BROKEN -> in.skipBytes(in.readableBytes());
        }
    }

    @Override
    protected void decodeLast(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        super.decodeLast(ctx, in, out);
        if (phase == Phase.CONTENT) {
            afterContent(in, out);
        }
    }

    @Override
    protected boolean isContentAlwaysEmpty(HttpMessage message) {
        return headRequest || super.isContentAlwaysEmpty(message);
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
        in.getBytes(in.readerIndex(), bytes);
        ResponseHead head = ResponseGrammar.parse(bytes);
        if (head == null) {
            broken("malformed response head: " + ResponseGrammar.problem(bytes), in, out);
            return;
        }
        FramingDecision decision = FramingDecision.of(head, headRequest);
        if (decision instanceof FramingDecision.Rejected rejected) {
            broken(rejected.problem(), in, out);
        } else if (decision instanceof FramingDecision.Framed framed) {
            framedHead(ctx, in, out, new ReceivedHead(head, framed.framing(), framed.reusable()));
        }
    }

    /** Lets Netty's decoder read the same head, and puts ours in the place of its own. */
    private void framedHead(ChannelHandlerContext ctx, ByteBuf in, List<Object> out, ReceivedHead received)
            throws Exception {
        int end = in.readerIndex();
        int first = out.size();
        super.decode(ctx, in, out);
        if (out.size() == first
                || !(out.get(first) instanceof HttpMessage message)
                || message.decoderResult().isFailure()) {
            String problem = out.size() == first ? "not decoded" : problem((HttpObject) out.get(first));
            discard(out, first);
            broken("malformed response head: " + problem, in, out);
            return;
        }
        assert in.readerIndex() > end;
        out.set(first, received);
        if (!received.head().isInterim()) {
            phase = Phase.CONTENT;
            afterContent(in, out);
            return;
        }
        discard(out, first + 1);
        if (++interimCount > INTERIM_MAX) {
            out.remove(first);
            broken("more than " + INTERIM_MAX + " interim responses", in, out);
        }
    }

    private void afterContent(ByteBuf in, List<Object> out) {
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
