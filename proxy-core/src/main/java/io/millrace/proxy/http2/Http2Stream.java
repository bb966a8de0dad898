package io.millrace.proxy.http2;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.ClientTunnel;
import io.millrace.proxy.net.RequestHandler;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * One request and its response on an HTTP/2 connection (RFC 9113 s5, s8). An exchange processes the request and writes
 * the response here.
 *
 * <p>Response content is queued here until the client's windows and the channel accept it. Confined to the connection's
 * event loop.
 */
final class Http2Stream extends SendScheduler.Entry<Http2Stream> implements ClientStream {
    private final Http2Connection connection;
    private final int id;
    private final RequestContent request;
    private final ResponseContent content;

    private @Nullable RequestHandler handler;
    /** True if the client requested a tunnel. Further bytes of the client wait until the request is answered. */
    private boolean tunnelRequested;
    /**
     * True if the client requested a tunnel and the response is 2xx without a tunnel. The stream is then reset, because
     * the client would treat it as a tunnel.
     */
    private boolean tunnelMissing;

    private @Nullable ClientTunnel tunnel;
    private boolean trailersWanted;

    private boolean headWritten;
    private boolean contentForbidden;
    private boolean responseEnded;
    private boolean endSent;
    private boolean gone;
    /** True if the exchange has found the queue full, and waits until it can write again. */
    private boolean exchangePaused;

    private long announcedLength = OutboundHead.LENGTH_UNKNOWN;
    private long contentWritten;
    private long bytesSent;
    private @Nullable FieldSection trailers;
    /** Position of the HEADERS frame in the output buffer, as long as the frame is in it; -1 before the head. */
    private int headPosition = -1;

    /**
     * The value of {@code FrameOutput.bytesWritten} when the HEADERS frame was appended. While that value is unchanged,
     * the frame is still in the output buffer.
     */
    private long bytesBeforeHead;

    Http2Stream(Http2Connection connection, int id, int sendWindow) {
        this.connection = connection;
        this.id = id;
        request = new RequestContent(this, connection);
        content = new ResponseContent(sendWindow);
    }

    @Override
    int id() {
        return id;
    }

    // request side

    /** Sets the exchange that answers the request. */
    void handler(RequestHandler exchange) {
        handler = exchange;
    }

    /** Returns the receiver of the stream's events, an exchange or a tunnel; null before the exchange exists. */
    @Nullable
    RequestHandler handler() {
        return handler;
    }

    /**
     * Returns the receiver of the client's input. Returns null after the end of the response, when input is no
     * longer needed.
     */
    @Nullable
    RequestHandler receiver() {
        return responseEnded && tunnel == null ? null : handler;
    }

    RequestContent request() {
        return request;
    }

    /** Records whether the client accepts trailers: {@code TE: trailers} (RFC 9110 s10.1.4). */
    void wantTrailers(boolean wanted) {
        trailersWanted = wanted;
    }

    /** Marks the request as a tunnel request. Call before its exchange begins. */
    void requestTunnel() {
        tunnelRequested = true;
        request.read(false);
    }

    /** Returns true if the client requested a tunnel. Then it may send only DATA frames (RFC 9113 s8.5). */
    boolean isTunnelRequested() {
        return tunnelRequested;
    }

    boolean isResponseEnded() {
        return responseEnded;
    }

    /** Returns true if both sides of the stream have ended. */
    boolean isOver() {
        return gone || (request.isEnded() && endSent);
    }

    /** Reopens the window after a DATA frame, unless the exchange has stopped reading. */
    void reopenWindow(int windowBytes) {
        if (!gone && (!responseEnded || tunnel != null)) {
            request.reopenWindow(windowBytes);
        }
    }

    /** Ends the request: its content is complete. */
    void endRequest() throws Http2Exception {
        if (request.isEnded()) {
            return;
        }
        request.end(!tunnelRequested || tunnel != null);
        connection.endIfOver(this);
    }

    /** Ends the stream because the client or the connection is gone. Nothing more is sent. */
    void onGone() {
        if (gone) {
            return;
        }
        gone = true;
        drop();
        RequestHandler requestHandler = receiver();
        responseEnded = true;
        if (requestHandler != null) {
            requestHandler.onClientGone();
        }
    }

    void onTooSlow(SlowReason reason) {
        RequestHandler requestHandler = receiver();
        if (requestHandler != null) {
            requestHandler.onClientTooSlow(reason);
        }
    }

    SlowClients.OriginDemand originDemand() {
        return handler == null || responseEnded ? SlowClients.OriginDemand.NONE : handler.originDemand();
    }

    /** Checks the deadlines of the request. Call once per tick (the periodic check of all connections). */
    void onTick(long nowNanos, Http2Settings settings) {
        ClientTunnel currentTunnel = tunnel;
        if (currentTunnel != null) {
            currentTunnel.onTick(nowNanos);
        } else if (!responseEnded && handler != null) {
            request.onTick(nowNanos, settings);
        }
    }

    /**
     * Returns true if queued content has waited too long for a flow-control window of the client.
     * Call once per tick.
     */
    boolean checkStalled(long nowNanos, long timeoutNanos) {
        // A tunnel has its own idle timeout.
        return tunnel == null && content.checkStalled(connection.sender().window() > 0, nowNanos, timeoutNanos);
    }

    // response side

    @Override
    public EventExecutor eventLoop() {
        return connection.eventLoop();
    }

    @Override
    public ByteBufAllocator alloc() {
        return connection.alloc();
    }

    @Override
    public ClientConnection connection() {
        return connection.client();
    }

    @Override
    public void writeInterim(OutboundHead head) {
        if (gone || headWritten) {
            return;
        }
        if (head.status() == 100) {
            request.continued();
        }
        HeadEncoder encoder = connection.encoder();
        encoder.encodeInterim(head, connection.takeTableUpdate());
        bytesSent += connection.headers(id, encoder, false);
    }

    @Override
    public void writeHead(OutboundHead head) {
        if (gone || responseEnded) {
            return;
        }
        if (headWritten) {
            throw new IllegalStateException("writeHead() was called twice for a response");
        }
        headWritten = true;
        if (tunnelRequested && head.status() / 100 == 2) {
            tunnelMissing = true;
            contentForbidden = true;
            eventLoop().execute(() -> connection.reset(this, ErrorCode.CONNECT_ERROR));
            return;
        }
        contentForbidden = head.isContentForbidden() || head.status() == 204 || head.status() == 304;
        announcedLength = head.contentLength();
        HeadEncoder encoder = connection.encoder();
        encoder.encode(head, connection.takeTableUpdate());
        int frameBytes = connection.headers(id, encoder, false);
        bytesSent += frameBytes;
        bytesBeforeHead = connection.output().bytesWritten();
        headPosition = connection.output().position() - frameBytes;
    }

    @Override
    public void switchTo(OutboundHead head, ClientTunnel to) {
        if (gone || headWritten) {
            to.close();
            return;
        }
        headWritten = true;
        HeadEncoder encoder = connection.encoder();
        encoder.encodeSwitched(head, connection.takeTableUpdate());
        bytesSent += connection.headers(id, encoder, false);
        TunnelChannel channel = new TunnelChannel(this, to);
        tunnel = to;
        handler = channel;
        channel.join(connection.loop());
        if (request.isEnded() && request.isDelivered()) {
            to.endClientInput();
        }
    }

    /** Closes a tunnel because this proxy stops. */
    void stopTunnel() {
        ClientTunnel currentTunnel = tunnel;
        if (currentTunnel != null) {
            currentTunnel.close();
        }
    }

    /**
     * Ends the tunnel. If both directions have ended, the queued bytes are still sent. Otherwise the stream is
     * reset (RFC 9113 s8.5).
     */
    void closeTunnel() {
        tunnel = null;
        request.drop();
        if (!gone && !(request.isEnded() && responseEnded)) {
            connection.reset(this, ErrorCode.CONNECT_ERROR);
        }
    }

    @Override
    public void flush() {
        if (!gone) {
            connection.output().flush();
        }
    }

    @Override
    public void write(ByteBuf piece) {
        int length = piece.readableBytes();
        if (gone || responseEnded || contentForbidden || length == 0) {
            piece.release();
            return;
        }
        contentWritten += length;
        if (announcedLength >= 0 && contentWritten > announcedLength) {
            piece.release();
            throw new IllegalStateException(
                    "content beyond the announced length: actual=" + contentWritten + ", limit=" + announcedLength);
        }
        content.add(piece);
        connection.sender().addQueuedBytes(length);
        connection.sender().schedule(this);
    }

    @Override
    public void finish() {
        if (gone || responseEnded) {
            return;
        }
        if (!headWritten || (announcedLength >= 0 && !contentForbidden && contentWritten != announcedLength)) {
            throw new IllegalStateException(
                    "the response ended early: actual=" + contentWritten + ", expected=" + announcedLength);
        }
        responseEnded = true;
        if (tunnelMissing) {
            return;
        }
        if (tunnel == null) {
            request.drop();
        }
        if (!content.isEmpty()) {
            // The last DATA frame, or the trailers after it, ends the stream.
            return;
        }
        boolean isHeadOnly = contentWritten == 0 && trailers == null;
        if (isHeadOnly && connection.output().addFlags(headPosition, bytesBeforeHead, Frames.END_STREAM)) {
            endSent();
        } else {
            sendEnd();
        }
    }

    @Override
    public void finish(FieldSection fields) {
        if (!gone && !responseEnded && trailersWanted && fields.size() > 0) {
            trailers = fields;
        }
        finish();
    }

    private void endSent() {
        endSent = true;
        if (!request.isEnded() && tunnel == null) {
            // The rest of the request is not needed, so the client need not send it (RFC 9113 s8.1).
            connection.reset(this, ErrorCode.NO_ERROR);
        } else {
            connection.endIfOver(this);
        }
    }

    @Override
    public void abort() {
        if (!gone && !responseEnded) {
            responseEnded = true;
            connection.reset(this, ErrorCode.INTERNAL_ERROR);
        }
    }

    @Override
    public boolean isWritable() {
        boolean writable = !gone && content.hasRoom(connection.sender().isBlocked());
        exchangePaused |= !writable;
        return writable;
    }

    @Override
    public void readContent(boolean on) {
        if (tunnelRequested && tunnel == null) {
            return;
        }
        request.read(on);
    }

    @Override
    public long bytesSent() {
        return bytesSent;
    }

    // scheduler side

    ResponseContent content() {
        return content;
    }

    /** Returns true if content is queued that the stream's own window accepts. */
    @Override
    boolean isSendable() {
        return !gone && content.isSendable();
    }

    /**
     * Sends one DATA frame with at most {@code bytesMax} bytes of queued content. Returns the number of content bytes
     * sent.
     */
    int send(int bytesMax) {
        ByteBuf piece = content.take(bytesMax);
        int length = piece.readableBytes();
        boolean last = content.isEmpty() && responseEnded && trailers == null;
        connection.output().data(id, piece, last);
        bytesSent += length + Frames.HEADER_BYTES;
        connection.sender().subtractQueuedBytes(length);
        if (last) {
            endSent();
        } else if (content.isEmpty() && responseEnded) {
            sendEnd();
        }
        return length;
    }

    private void sendEnd() {
        FieldSection fields = trailers;
        if (fields != null) {
            HeadEncoder encoder = connection.encoder();
            encoder.encodeTrailers(fields, connection.takeTableUpdate());
            bytesSent += connection.headers(id, encoder, true);
        } else {
            Frames.header(connection.output().reserve(Frames.HEADER_BYTES), 0, Frames.DATA, Frames.END_STREAM, id);
            bytesSent += Frames.HEADER_BYTES;
        }
        endSent();
    }

    /** Resumes an exchange that paused because the queue was full. */
    void wakeExchange() {
        if (exchangePaused
                && !gone
                && !responseEnded
                && handler != null
                && content.hasRoomAgain(connection.sender().isBlocked())) {
            exchangePaused = false;
            handler.onWritable();
        }
    }

    /** Sends the content that {@link Http2FastStream} could not send within the client's windows. Takes ownership. */
    void drain(ByteBuf unsent) {
        headWritten = true;
        responseEnded = true;
        request.endWithoutContent();
        int length = unsent.readableBytes();
        content.add(unsent);
        connection.sender().addQueuedBytes(length);
        connection.sender().schedule(this);
    }

    private void drop() {
        request.drop();
        connection.sender().subtractQueuedBytes((int) content.queuedBytes());
        content.release();
    }
}
