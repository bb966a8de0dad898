package io.millrace.proxy.http2;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.ClientTunnel;
import io.millrace.proxy.net.ContentRate;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request and its response on an HTTP/2 connection (RFC 9113 s5, s8).
 *
 * <p>Content of the response waits here until the client's windows and the channel take it. Confined to the connection's
 * event loop.
 */
final class Http2Stream extends SendScheduler.Entry<Http2Stream> implements ClientStream {
    /** Content that may wait here before the exchange pauses. */
    private static final int QUEUED_BYTES_MAX = 64 * 1024;

    private static final int HELD_BYTES_FIRST = 1024;

    private final Http2Connection connection;
    private final int id;

    private @Nullable RequestHandler handler;
    /** Whether the request asks for a tunnel: what the client sends waits for the answer. */
    private boolean tunnelAsked;
    /** Whether a status of 2xx came without a tunnel: the client would take it for one. */
    private boolean tunnelMissing;

    private @Nullable ClientTunnel tunnel;

    // the request
    private long contentLength = RequestReceiver.CHUNKED;
    private long contentReceived;
    private boolean requestEnded;
    private boolean requestFailed;
    private boolean contentWanted = true;
    /** Content that came while the exchange did not read; owned. */
    private @Nullable ByteBuf held;

    private boolean awaitsContinue;
    private boolean trailersWanted;
    private boolean continued;
    private int receiveWindow = Frames.WINDOW_DEFAULT;
    private int receiveCredit;
    private boolean windowRaised;
    private long contentSinceNanos;
    private final ContentRate uploadRate = new ContentRate();

    // the response
    private @Nullable ArrayDeque<ByteBuf> queue;
    private long queuedBytes;
    private int sendWindow;
    private boolean headWritten;
    private boolean contentForbidden;
    private boolean responseEnded;
    private boolean endSent;
    private boolean gone;
    private boolean pausedExchange;
    private long announced = OutboundHead.LENGTH_UNKNOWN;
    private long contentWritten;
    private long bytesSent;
    private @Nullable FieldSection trailers;
    /** Where the flags of HEADERS are in the output's buffer, and what had been handed to the channel then. */
    private int headFlags = -1;

    private long headHanded;

    private long stalledSinceNanos;
    private boolean sentSinceTick;

    Http2Stream(Http2Connection connection, int id, int sendWindow) {
        this.connection = connection;
        this.id = id;
        this.sendWindow = sendWindow;
    }

    @Override
    int id() {
        return id;
    }

    // the request's side

    /** The exchange that answers. */
    void handler(RequestHandler exchange) {
        handler = exchange;
    }

    /** @param length Content-Length, or {@link RequestReceiver#CHUNKED} without one */
    void expect(long length, boolean waitsForContinue) {
        contentLength = length;
        awaitsContinue = waitsForContinue;
    }

    /** The client takes trailers: {@code TE: trailers} (RFC 9110 s10.1.4). */
    void wantTrailers(boolean wanted) {
        trailersWanted = wanted;
    }

    /** The request asks for a tunnel; before its exchange begins. */
    void askTunnel() {
        tunnelAsked = true;
        contentWanted = false;
    }

    /** Whether events of the client reach the handler. */
    private boolean isHandled() {
        return handler != null && (!responseEnded || tunnel != null);
    }

    boolean isRequestEnded() {
        return requestEnded;
    }

    boolean isResponseEnded() {
        return responseEnded;
    }

    /** Whether nothing of it is left on either side. */
    boolean isOver() {
        return gone || (requestEnded && endSent);
    }

    /** Whether the response is whole with the client, as far as this side knows. */
    boolean isAnswered() {
        return endSent;
    }

    /** A DATA frame of that size comes, padding included. */
    void receiving(int length) throws Http2Exception {
        if (requestEnded) {
            throw Http2Exception.stream(
                    id, ErrorCode.STREAM_CLOSED, Http2Fault.STREAM_CLOSED, "DATA behind the end of a request");
        }
        if (length > receiveWindow) {
            throw Http2Exception.stream(
                    id, ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "DATA above the stream's window");
        }
        receiveWindow -= length;
        receiveCredit += length;
    }

    /** Takes content; borrows the buffer. */
    void content(ByteBuf in, int index, int length, long contentBytesMax) throws Http2Exception {
        contentReceived += length;
        contentSinceNanos = 0;
        if (contentLength >= 0 && contentReceived > contentLength) {
            throw contentLengthError();
        }
        uploadRate.received(length);
        RequestHandler receiver = handler;
        if (receiver == null || !isHandled() || requestFailed) {
            return;
        }
        if (contentBytesMax > 0 && contentReceived > contentBytesMax && !tunnelAsked) {
            failRequest(BadRequest.CONTENT_TOO_LARGE);
            return;
        }
        if (contentWanted && held == null) {
            receiver.onContent(in.retainedSlice(index, length));
        } else {
            hold(in, index, length);
        }
    }

    /**
     * Copies content that the exchange does not read yet behind what waits. Slices would keep whole receive buffers, one for
     * each small frame. The stream's window bounds the size.
     */
    private void hold(ByteBuf in, int index, int length) {
        ByteBuf buffer = held;
        if (buffer == null) {
            buffer = alloc().buffer(Math.max(length, HELD_BYTES_FIRST));
            held = buffer;
        }
        buffer.writeBytes(in, index, length);
    }

    /** Gives the exchange the content that it did not read, and the request's end behind it. */
    private void deliverHeld() {
        ByteBuf buffer = held;
        if (buffer == null || handler == null || !contentWanted) {
            return;
        }
        held = null;
        handler.onContent(buffer);
        if (requestEnded && !requestFailed) {
            tellRequestEnd();
        }
    }

    private void tellRequestEnd() {
        RequestHandler told = handler;
        if (told != null && isHandled()) {
            told.onRequestEnd();
        }
    }

    private void dropHeld() {
        ByteBuf buffer = held;
        held = null;
        if (buffer != null) {
            buffer.release();
        }
    }

    /** A DATA frame is over: the client may send as much again, where the exchange takes more. */
    void giveWindow(int windowBytes) {
        if (requestEnded || gone || !contentWanted || (responseEnded && tunnel == null)) {
            return;
        }
        if (!windowRaised) {
            windowRaised = true;
            receiveCredit += Math.max(0, windowBytes - Frames.WINDOW_DEFAULT);
        }
        if (receiveCredit >= windowBytes / 2) {
            Frames.windowUpdate(connection.output().room(13), id, receiveCredit);
            receiveWindow += receiveCredit;
            receiveCredit = 0;
        }
    }

    /** The request is whole. */
    void endRequest() throws Http2Exception {
        if (requestEnded) {
            return;
        }
        if (contentLength >= 0 && contentReceived != contentLength) {
            throw contentLengthError();
        }
        requestEnded = true;
        boolean waitsForTunnel = tunnelAsked && tunnel == null;
        if (held == null && !requestFailed && !waitsForTunnel) {
            tellRequestEnd();
        }
        connection.endIfOver(this);
    }

    private Http2Exception contentLengthError() {
        return Http2Exception.stream(
                id, ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, "Content-Length that differs from the content");
    }

    void failRequest(BadRequest reason) {
        if (requestFailed || requestEnded) {
            return;
        }
        requestFailed = true;
        dropHeld();
        if (handler != null && !responseEnded) {
            handler.onRequestFailure(reason);
        }
    }

    /** The client, or the connection, is gone; nothing is sent any more. */
    void onGone() {
        if (gone) {
            return;
        }
        gone = true;
        drop();
        RequestHandler told = isHandled() ? handler : null;
        responseEnded = true;
        if (told != null) {
            told.onClientGone();
        }
    }

    void onTooSlow(SlowReason reason) {
        if (handler != null && isHandled()) {
            handler.onClientTooSlow(reason);
        }
    }

    SlowClients.OriginDemand originDemand() {
        return handler == null || responseEnded ? SlowClients.OriginDemand.NONE : handler.originDemand();
    }

    /** Looks at the request's deadlines; once a tick. */
    void onTick(long nowNanos, Http2Settings settings) {
        ClientTunnel joined = tunnel;
        if (joined != null) {
            joined.onTick(nowNanos);
            return;
        }
        if (requestEnded || requestFailed || responseEnded || handler == null) {
            return;
        }
        boolean awaited = contentWanted && (continued || contentReceived > 0 || !awaitsContinue);
        if (uploadRate.isTooSlow(nowNanos, awaited, settings.contentRateMin(), settings.contentRateWindowNanos())) {
            failRequest(BadRequest.CONTENT_RATE);
        } else if (!contentWanted || contentSinceNanos == 0) {
            contentSinceNanos = nowNanos;
        } else if (nowNanos - contentSinceNanos >= settings.contentTimeoutNanos()) {
            failRequest(BadRequest.CONTENT_TIMEOUT);
        }
    }

    /** Whether the client has kept this window, or the connection's, closed on content for so long; once a tick. */
    boolean isStalled(long nowNanos, long timeoutNanos) {
        boolean open = sendWindow > 0 && connection.sendWindow() > 0;
        // A tunnel has its own time, in which nothing comes or goes.
        if (queuedBytes == 0 || open || sentSinceTick || tunnel != null) {
            sentSinceTick = false;
            stalledSinceNanos = 0;
            return false;
        }
        if (stalledSinceNanos == 0) {
            stalledSinceNanos = nowNanos;
            return false;
        }
        return nowNanos - stalledSinceNanos >= timeoutNanos;
    }

    // the response's side

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
            continued = true;
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
            throw new IllegalStateException("a second response head");
        }
        headWritten = true;
        if (tunnelAsked && head.status() / 100 == 2) {
            tunnelMissing = true;
            contentForbidden = true;
            eventLoop().execute(() -> connection.reset(this, ErrorCode.CONNECT_ERROR));
            return;
        }
        contentForbidden = head.isContentForbidden() || head.status() == 204 || head.status() == 304;
        announced = head.contentLength();
        HeadEncoder encoder = connection.encoder();
        encoder.encode(head, connection.takeTableUpdate());
        int frameBytes = connection.headers(id, encoder, false);
        bytesSent += frameBytes;
        headHanded = connection.output().handed();
        headFlags = connection.output().room(0).writerIndex() - frameBytes + 4;
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
        if (requestEnded && held == null) {
            to.endClientInput();
        }
    }

    /** This proxy stops: a tunnel ends as such. */
    void stopTunnel() {
        ClientTunnel joined = tunnel;
        if (joined != null) {
            joined.close();
        }
    }

    /** The tunnel is over: what it has sent to its end leaves, anything else breaks off (RFC 9113 s8.5). */
    void closeTunnel() {
        tunnel = null;
        dropHeld();
        if (!gone && !(requestEnded && responseEnded)) {
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
    public void write(ByteBuf content) {
        int length = content.readableBytes();
        if (gone || responseEnded || contentForbidden || length == 0) {
            content.release();
            return;
        }
        contentWritten += length;
        if (announced >= 0 && contentWritten > announced) {
            content.release();
            throw new IllegalStateException(
                    "content beyond the announced length: actual=" + contentWritten + ", limit=" + announced);
        }
        ArrayDeque<ByteBuf> waiting = queue;
        if (waiting == null) {
            waiting = new ArrayDeque<>(4);
            queue = waiting;
        }
        waiting.add(content);
        queuedBytes += length;
        connection.queued(length);
        connection.schedule(this);
    }

    @Override
    public void finish() {
        if (gone || responseEnded) {
            return;
        }
        if (!headWritten || (announced >= 0 && !contentForbidden && contentWritten != announced)) {
            throw new IllegalStateException(
                    "the response ended early: actual=" + contentWritten + ", expected=" + announced);
        }
        responseEnded = true;
        if (tunnelMissing) {
            return;
        }
        if (tunnel == null) {
            dropHeld();
        }
        if (queuedBytes > 0) {
            // The last frame of content ends the stream, or the trailers behind it.
            return;
        }
        if (contentWritten == 0 && trailers == null && setEndInHead()) {
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

    /** Ends the stream in its HEADERS frame, where that is still here. */
    private boolean setEndInHead() {
        FrameOutput output = connection.output();
        if (headFlags < 0 || output.handed() != headHanded) {
            return false;
        }
        ByteBuf buffer = output.room(0);
        buffer.setByte(headFlags, buffer.getByte(headFlags) | Frames.END_STREAM);
        return true;
    }

    private void endSent() {
        endSent = true;
        if (!requestEnded && tunnel == null) {
            // The rest of the request is of no use: the client need not send it (RFC 9113 s8.1).
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
        boolean writable = !gone && queuedBytes < (isBlocked() ? 1 : QUEUED_BYTES_MAX);
        pausedExchange |= !writable;
        return writable;
    }

    @Override
    public void readContent(boolean on) {
        if (tunnelAsked && tunnel == null) {
            return;
        }
        contentWanted = on;
        if (on) {
            deliverHeld();
            connection.giveWindow(this);
        } else {
            uploadRate.pause();
        }
    }

    @Override
    public long bytesSent() {
        return bytesSent;
    }

    // the scheduler's side

    /** Bytes of content that wait. */
    long queuedBytes() {
        return queuedBytes;
    }

    /** Whether content of it can be sent, as far as its own window is concerned. */
    @Override
    boolean isSendable() {
        return !gone && queuedBytes > 0 && sendWindow > 0;
    }

    /** Sends one frame of at most so many bytes of content, of which some wait. Returns those that were sent. */
    int send(int most) {
        ArrayDeque<ByteBuf> waiting = Objects.requireNonNull(queue);
        int length = Math.min(Math.min(most, sendWindow), Frames.PAYLOAD_BYTES_MAX);
        ByteBuf first = waiting.element();
        int fromFirst = Math.min(length, first.readableBytes());
        boolean last = fromFirst == queuedBytes && responseEnded && trailers == null;
        if (fromFirst == first.readableBytes()) {
            waiting.remove();
            connection.output().data(id, first, last);
        } else {
            connection.output().data(id, first.readRetainedSlice(fromFirst), last);
        }
        queuedBytes -= fromFirst;
        sendWindow -= fromFirst;
        bytesSent += fromFirst + Frames.HEADER_BYTES;
        sentSinceTick = true;
        connection.unqueued(fromFirst);
        if (last) {
            endSent();
        } else if (queuedBytes == 0 && responseEnded) {
            sendEnd();
        }
        return fromFirst;
    }

    private void sendEnd() {
        FieldSection fields = trailers;
        if (fields != null) {
            HeadEncoder encoder = connection.encoder();
            encoder.encodeTrailers(fields, connection.takeTableUpdate());
            bytesSent += connection.headers(id, encoder, true);
        } else {
            Frames.header(connection.output().room(Frames.HEADER_BYTES), 0, Frames.DATA, Frames.END_STREAM, id);
            bytesSent += Frames.HEADER_BYTES;
        }
        endSent();
    }

    /** Has the exchange go on where it pauses for want of room. */
    void wakeExchange() {
        if (pausedExchange && !gone && !responseEnded && handler != null && isRoomAgain()) {
            pausedExchange = false;
            handler.onWritable();
        }
    }

    private boolean isRoomAgain() {
        return queuedBytes < (isBlocked() ? 1 : QUEUED_BYTES_MAX / 2);
    }

    /** Whether no content of the stream can be sent now: the exchange then gives one piece at most. */
    private boolean isBlocked() {
        return sendWindow <= 0 || connection.isBlocked();
    }

    /** Changes the client's window; false when it becomes larger than it may (RFC 9113 s6.9.1). */
    boolean enlargeWindow(int by) {
        long window = (long) sendWindow + by;
        if (window > Frames.WINDOW_MAX) {
            return false;
        }
        sendWindow = (int) window;
        return true;
    }

    int sendWindow() {
        return sendWindow;
    }

    /** Has content that was written by other means sent, as the whole of a response without an exchange; takes ownership. */
    void drain(ByteBuf content) {
        headWritten = true;
        responseEnded = true;
        requestEnded = true;
        ArrayDeque<ByteBuf> waiting = new ArrayDeque<>(1);
        waiting.add(content);
        queue = waiting;
        queuedBytes = content.readableBytes();
        connection.queued(content.readableBytes());
        connection.schedule(this);
    }

    private void drop() {
        dropHeld();
        ArrayDeque<ByteBuf> waiting = queue;
        queue = null;
        connection.unqueued((int) queuedBytes);
        queuedBytes = 0;
        while (waiting != null && !waiting.isEmpty()) {
            waiting.remove().release();
        }
    }
}
