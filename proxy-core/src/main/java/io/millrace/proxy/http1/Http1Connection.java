package io.millrace.proxy.http1;

import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http1.ConnectionDeadline.Waiting;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientTunnel;
import io.millrace.proxy.net.ConnectionEnd;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.ContentRate;
import io.millrace.proxy.net.DecidedRequest;
import io.millrace.proxy.net.PlainSocket;
import io.millrace.proxy.net.RequestReceiver;
import io.millrace.proxy.net.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's HTTP/1.1 connection in a Netty channel, with the stream of its current request. An exchange is the object
 * that processes one request. {@link PipelinedRequests} queues the pipelined requests, and {@link Http1Timeouts}
 * enforces the connection's deadlines.
 *
 * <p>A connection that was promoted from the {@link FastLane} takes over the bytes that the fast lane has read and not
 * answered. When it is idle, it returns to the fast lane; see {@link PromotedConnection}.
 *
 * <p>Confined to one event loop.
 */
public final class Http1Connection extends ChannelInboundHandlerAdapter implements ConnectionSet.Member {
    private static final Logger log = LoggerFactory.getLogger(Http1Connection.class);

    private final Supplier<Http1Settings> settings;
    private final RequestReceiver receiver;
    private final ConnectionSet connections;
    private final PipelinedRequests requestQueue;
    private final ConnectionDeadline deadline;
    private final Http1Timeouts timeouts;
    /** The promotion of a fast-lane connection to this channel; null for a connection that began as a channel. */
    private final @Nullable PromotedConnection promoted;
    /** Answers requests from the RAM cache before their bytes reach the decoder; null for none. */
    private final @Nullable TlsFastLane tlsFastLane;

    private ChannelHandlerContext ctx;
    private ConnectionOutput output;
    private ClientConnection client;
    private @Nullable Http1Stream stream;
    /** Owns the connection after a switch to another protocol; null while it uses HTTP. */
    private @Nullable ClientTunnel tunnel;

    private int slot = -1;
    /** Number of requests on this connection, including those that the fast lane has answered. */
    private int requests;
    /** True once the client has shut down its output. */
    private boolean inputEnded;

    private boolean closing;
    /** True if the connection ends after the current or next response. */
    private boolean lastRequest;
    /** True once the client has sent any byte. */
    private boolean anyBytes;
    /** True once the TLS handshake has completed, until the end of the current read. */
    private boolean handshaken;

    @SuppressWarnings("NullAway.Init") // set by handlerAdded and channelActive, before any other use
    Http1Connection(
            Supplier<Http1Settings> settings,
            RequestReceiver receiver,
            ConnectionSet connections,
            ConnectionDeadline deadline,
            @Nullable PromotedConnection promoted,
            @Nullable TlsFastLane tlsFastLane) {
        this.settings = settings;
        this.receiver = receiver;
        this.connections = connections;
        this.deadline = deadline;
        this.promoted = promoted;
        this.tlsFastLane = tlsFastLane;
        this.requestQueue = new PipelinedRequests(this);
        this.timeouts = new Http1Timeouts(this, connections, deadline);
    }

    /** Sets the number of requests that the fast lane has answered on this connection. */
    void answeredBefore(int count) {
        requests = count;
    }

    /**
     * Adds the decoder and this handler at the end of the channel's pipeline.
     *
     * @param known addresses and TLS properties of the connection; null to take them from the channel
     */
    Http1Connection addTo(Channel channel, @Nullable ClientConnection known) {
        if (known != null) {
            client = known;
        }
        channel.pipeline().addLast(new Http1RequestDecoder(this, promoted == null ? null : promoted.scanner()), this);
        return this;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        output = new ConnectionOutput(context, connections::atEndOfIteration);
        if (context.channel().isActive()) {
            begin();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        begin();
    }

    private void begin() {
        if (slot >= 0) {
            return;
        }
        Channel channel = ctx.channel();
        if (client == null) {
            client = ClientConnection.of(channel, null, false, false);
        }
        if (!connections.add(this)) {
            closing = true;
            channel.close();
            return;
        }
        Transport.limitUnsent(channel);
    }

    /**
     * Answers the requests at the beginning of {@code bytes} that the TLS fast lane can answer. The decoder must be
     * empty. Borrows the bytes.
     */
    void answerByFastLane(ByteBuf bytes) {
        if (tlsFastLane != null && isBetweenRequests()) {
            output.beginRead();
            tlsFastLane.serve(this, bytes);
        }
    }

    /**
     * Returns true if the next request may be answered immediately: no request is in progress, and the channel is
     * writable.
     */
    boolean isBetweenRequests() {
        return stream == null
                && !closing
                && requestQueue.isEmpty()
                && ctx.channel().isWritable();
    }

    /** Counts a request that is answered without the decoder. Returns true when the connection ends with it. */
    boolean beginFast(boolean persistent) {
        requests++;
        return !persistent || isLastRequest();
    }

    /**
     * Sends the responses to requests counted by {@link #beginFast}. Takes ownership.
     *
     * @param last whether the connection ends after them
     * @param now whether to flush before the end of the event loop iteration
     */
    void answered(ByteBuf answers, boolean last, boolean now) {
        output.write(answers);
        requestQueue.resetDiscardedBytes();
        deadline.await(Waiting.KEEP_ALIVE);
        if (last) {
            lingerAndClose();
        } else if (now) {
            output.flushNow();
        } else {
            output.flush();
        }
    }

    /** Starts an exchange for a request counted by {@link #beginFast}. */
    void resume(ParsedRequest parsed, DecidedRequest decided) {
        requests--;
        takeDecided(parsed, decided);
    }

    /**
     * Starts an exchange for a complete request without content.
     *
     * @param decided the cache decision that the fast lane has already made for this request, owned by this method;
     *     null if it has made none
     */
    void takeDecided(ParsedRequest parsed, @Nullable DecidedRequest decided) {
        anyBytes = true;
        takeRequest(parsed, decided);
        requestQueue.take(LastHttpContent.EMPTY_LAST_CONTENT);
    }

    /** Called when the decoder receives bytes. At the first byte of a request, its header timeout begins. */
    void onBytes(int count) {
        anyBytes = true;
        if (deadline.isFor(Waiting.KEEP_ALIVE)) {
            deadline.await(Waiting.HEADER);
        } else if (deadline.isFor(Waiting.CONTENT)) {
            deadline.restart();
            timeouts.contentRate().received(count);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (tunnel != null) {
            context.fireChannelRead(message);
            return;
        }
        output.beginRead();
        requestQueue.read(message);
    }

    /** Returns true if nothing is in progress in either direction, so that the connection may leave its channel. */
    boolean isIdle() {
        Http1RequestDecoder decoder = ctx.pipeline().get(Http1RequestDecoder.class);
        return deadline.isFor(Waiting.KEEP_ALIVE)
                && stream == null
                && tunnel == null
                && !inputEnded
                && !closing
                && requestQueue.isEmpty()
                && decoder != null
                && decoder.isEmpty()
                && !output.isSending();
    }

    /**
     * Returns a fast-lane connection that continues this connection. Call after the channel has been released.
     *
     * @param laneStaysWithoutAnswer number of consecutive stays in the fast lane in which the lane answered nothing
     */
    FastConnection demoted(FastLane to, PlainSocket socket, int laneStaysWithoutAnswer) {
        closing = true;
        return new FastConnection(to, socket, client, deadline, requests, laneStaysWithoutAnswer);
    }

    /**
     * Begins an exchange.
     *
     * @param decided the cache decision that the fast lane has already made for this request; null if it has made none
     */
    void takeRequest(ParsedRequest parsed, @Nullable DecidedRequest decided) {
        if (stream != null) {
            throw new IllegalStateException("a request head arrived before the end of the previous request");
        }
        requests++;
        long contentBytesMax = settings().contentBytesMax();
        Http1Stream next = new Http1Stream(this, parsed, contentBytesMax);
        stream = next;
        BadRequest problem = parsed.problem();
        RequestHead head = parsed.head();
        if (problem == null && contentBytesMax > 0 && parsed.contentLength() > contentBytesMax) {
            problem = BadRequest.CONTENT_TOO_LARGE;
        }
        if (problem != null || head == null) {
            next.closeAfter();
            receiver.onBadRequest(next, problem == null ? BadRequest.SYNTAX : problem);
            return;
        }
        if (isLastRequest() || (inputEnded && requestQueue.isLastWaiting())) {
            next.closeAfter();
        }
        deadline.await(parsed.contentLength() == 0 ? Waiting.RESPONSE : Waiting.CONTENT);
        timeouts.contentRate().begin();
        next.handler(
                decided == null ? receiver.onRequest(next, head, parsed.contentLength()) : decided.resume(next, head));
    }

    private boolean isLastRequest() {
        int requestsMax = settings().requestsPerConnectionMax();
        return lastRequest || connections.closesAfterRequest() || (requestsMax > 0 && requests >= requestsMax);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        handshaken |= event instanceof SslHandshakeCompletionEvent completion && completion.isSuccess();
        if (event instanceof ChannelInputShutdownEvent && !inputEnded) {
            inputEnded = true;
            if (tunnel == null) {
                InputShutdown.handle(this);
            }
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (tunnel != null) {
            context.fireChannelReadComplete();
            return;
        }
        output.endRead();
        if (handshaken) {
            handshaken = false;
            if (!anyBytes && requests == 0) {
                // Sends the delayed TCP ACK now: a client with Nagle's algorithm sends its request only after it.
                Transport.acknowledge(context.channel());
            }
        }
        requestQueue.updateAutoRead();
        context.fireChannelReadComplete();
    }

    /**
     * Called when the current exchange has ended on both sides: continues with the next pipelined request, reads, or
     * closes.
     */
    void onStreamEnd(Http1Stream ended, boolean close) {
        if (stream != ended) {
            return;
        }
        stream = null;
        if (ended.mayLeaveHttp() && !close) {
            continueHttp();
        }
        if (close) {
            lingerAndClose();
            return;
        }
        requestQueue.resetDiscardedBytes();
        deadline.await(Waiting.KEEP_ALIVE);
        if (connections.closesIdle() && requestQueue.isEmpty()) {
            lingerAndClose();
        } else {
            requestQueue.takeWaiting();
        }
        if (inputEnded) {
            InputShutdown.closeWhenAnswered(this);
        }
        if (promoted != null) {
            promoted.onAnswered();
        }
    }

    private void continueHttp() {
        Http1RequestDecoder decoder = ctx.pipeline().get(Http1RequestDecoder.class);
        if (decoder != null) {
            decoder.continueHttp(ctx.pipeline().context(decoder));
        }
    }

    /**
     * Called when bytes follow a request that may end HTTP on this connection. Stops reading until the response is
     * known.
     */
    void onHeld() {
        ctx.channel().config().setAutoRead(false);
    }

    /** Hands the connection over to a tunnel. All unprocessed and later bytes go to the tunnel. */
    void switchTo(ClientTunnel to) {
        tunnel = to;
        stream = null;
        deadline.await(Waiting.RESPONSE);
        output.flushNow();
        ctx.pipeline().addLast(to.clientSide());
        ctx.pipeline().remove(Http1RequestDecoder.class);
        if (inputEnded) {
            to.endClientInput();
        }
    }

    /**
     * Closes the connection after all written bytes were sent. First shuts down the output and discards the client's
     * input for a while. Otherwise unread input would make the kernel send a reset, which may destroy the response on
     * its way.
     */
    void lingerAndClose() {
        if (closing) {
            return;
        }
        closing = true;
        requestQueue.drop();
        output.flushNow();
        deadline.await(Waiting.LINGER);
        if (inputEnded) {
            ConnectionEnd.closeAfterWrites(ctx);
            return;
        }
        ConnectionEnd.shutAfterWrites(ctx);
        requestQueue.removeDecoderSoon();
    }

    void closeNow() {
        closing = true;
        requestQueue.drop();
        ctx.channel().close();
    }

    /**
     * Closes the connection by a TCP reset, without a TLS close_notify. Used for a truncated response whose end is the
     * end of the connection: an orderly close would make it look complete.
     */
    void reset() {
        closing = true;
        requestQueue.drop();
        ConnectionEnd.reset(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (stream != null && context.channel().isWritable()) {
            stream.onWritable();
        }
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        onGone();
        context.fireChannelInactive();
    }

    /** Called when the channel is closed. */
    void onGone() {
        closing = true;
        requestQueue.drop();
        output.drop();
        Http1Stream current = stream;
        stream = null;
        if (slot >= 0) {
            connections.remove(this);
        }
        if (current != null) {
            current.onGone();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (tunnel == null) {
            fault(cause);
        } else {
            context.fireExceptionCaught(cause);
        }
    }

    /** Closes the connection after an unexpected exception. */
    void fault(Throwable cause) {
        ConnectionEnd.logFault(log, ctx.channel(), cause);
        closeNow();
    }

    @Override
    public void onTick(long nowNanos) {
        ClientTunnel currentTunnel = tunnel;
        if (currentTunnel != null) {
            currentTunnel.onTick(nowNanos);
        } else if (inputEnded && ConnectionEnd.isReset(ctx.channel())) {
            closeNow();
        } else if (promoted == null || !promoted.onTick()) {
            timeouts.onTick(nowNanos);
        }
    }

    @Override
    public void addIfBehind(SlowClients slow, long nowNanos) {
        if (slot >= 0 && !(promoted != null && promoted.isLeaving()) && output.sample(nowNanos)) {
            slow.add(timeouts);
        }
    }

    /**
     * Answers 408 when the request head is late. The connection of a client that sent nothing is closed without a
     * response.
     */
    void onHeaderTimeout() {
        if (!anyBytes) {
            closeNow();
            return;
        }
        Http1Stream late = new Http1Stream(this, ParsedRequest.none(), 0);
        stream = late;
        late.closeAfter();
        receiver.onBadRequest(late, BadRequest.HEADER_TIMEOUT);
    }

    /** The tunnel that owns the connection after a switch to another protocol; null while the connection uses HTTP. */
    @Nullable
    ClientTunnel tunnel() {
        return tunnel;
    }

    @Override
    public void onDrain(boolean closesIdle) {
        lastRequest = true;
        if (stream != null) {
            if (closesIdle || !stream.isHeadWritten()) {
                stream.closeAfter();
            }
        } else if (closesIdle && deadline.isFor(Waiting.KEEP_ALIVE)) {
            lingerAndClose();
        }
    }

    @Override
    public void onClose() {
        if (tunnel != null) {
            tunnel.close();
        }
        closeNow();
    }

    @Override
    public int slot() {
        return slot;
    }

    @Override
    public void slot(int place) {
        slot = place;
    }

    /** Sends bytes immediately. Takes ownership. */
    void send(ByteBuf bytes) {
        output.write(bytes);
        output.flushNow();
    }

    /** The stream of the request in progress; null between requests. */
    @Nullable
    Http1Stream stream() {
        return stream;
    }

    boolean isClosing() {
        return closing;
    }

    /** Returns true if another component controls reading: a tunnel, or the move to the fast lane. */
    boolean isLeaving() {
        return tunnel != null || (promoted != null && promoted.isLeaving());
    }

    PipelinedRequests requestQueue() {
        return requestQueue;
    }

    ConnectionDeadline deadline() {
        return deadline;
    }

    ContentRate contentRate() {
        return timeouts.contentRate();
    }

    ConnectionOutput output() {
        return output;
    }

    ChannelHandlerContext context() {
        return ctx;
    }

    /** The settings in force. */
    Http1Settings settings() {
        return settings.get();
    }

    @Override
    public ClientConnection client() {
        return client;
    }
}
