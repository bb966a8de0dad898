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
import java.net.InetSocketAddress;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's HTTP/1.1 connection in the channel lane: its life from the first byte to the last, and the exchange under way. What the
 * client sends is taken in by its {@link PipelinedRequests}, its deadlines are watched by {@link Http1Timeouts}.
 *
 * <p>A connection that comes from the {@link FastLane} takes up what that has read and not answered, and goes back when it is idle: its {@link PromotedConnection}.
 *
 * <p>Confined to one event loop.
 */
public final class Http1Connection extends ChannelInboundHandlerAdapter implements ConnectionSet.Member {
    private static final Logger log = LoggerFactory.getLogger(Http1Connection.class);

    private final Supplier<Http1Settings> settings;
    private final RequestReceiver receiver;
    private final ConnectionSet connections;
    private final PipelinedRequests intake;
    private final ConnectionDeadline deadline;
    private final Http1Timeouts timeouts;
    /** The stay in this channel of a connection of the fast lane; null for one that began as a channel. */
    private final @Nullable PromotedConnection visit;
    /** Answers hits in front of the decoder; null for none. */
    private final @Nullable TlsFastLane direct;

    private ChannelHandlerContext ctx;
    private ConnectionOutput output;
    private ClientConnection facts;
    private @Nullable Http1Stream stream;
    /** Has the connection to itself once that speaks HTTP no longer. */
    private @Nullable ClientTunnel tunnel;

    private int slot = -1;
    private int requests;
    /** The client has shut down its sending side. */
    private boolean inputEnded;

    private boolean closing;
    private boolean anyBytes;
    /** TLS's handshake has ended with the bytes that are being read. */
    private boolean handshaken;

    @SuppressWarnings("NullAway.Init") // set by handlerAdded and channelActive, before anything else
    private Http1Connection(
            Supplier<Http1Settings> settings,
            RequestReceiver receiver,
            ConnectionSet connections,
            ConnectionDeadline deadline,
            @Nullable PromotedConnection visit,
            @Nullable TlsFastLane direct) {
        this.settings = settings;
        this.receiver = receiver;
        this.connections = connections;
        this.deadline = deadline;
        this.visit = visit;
        this.direct = direct;
        this.intake = new PipelinedRequests(this);
        this.timeouts = new Http1Timeouts(this, connections, deadline);
    }

    /**
     * Puts HTTP/1.1 at the end of a channel's pipeline; the channel may be active already.
     *
     * @param settings asked whenever one counts
     * @param direct answers hits in front of the decoder, where TLS is in front of that; null for none
     */
    public static void install(
            Channel channel,
            Supplier<Http1Settings> settings,
            RequestReceiver receiver,
            ConnectionSet connections,
            @Nullable TlsFastLane direct) {
        new Http1Connection(settings, receiver, connections, new ConnectionDeadline(), null, direct)
                .addTo(channel, null);
    }

    /**
     * As the other, of a connection whose client is known already: another's than the channel's remote address.
     *
     * @param facts what is known of the connection
     */
    public static void install(
            Channel channel,
            ClientConnection facts,
            Supplier<Http1Settings> settings,
            RequestReceiver receiver,
            ConnectionSet connections,
            @Nullable TlsFastLane direct) {
        new Http1Connection(settings, receiver, connections, new ConnectionDeadline(), null, direct)
                .addTo(channel, facts);
    }

    /** As the other, of a connection that goes into the fast lane when it is idle. */
    static Http1Connection install(
            Channel channel,
            ClientConnection facts,
            Supplier<Http1Settings> settings,
            RequestReceiver receiver,
            ConnectionSet connections,
            PromotedConnection visit) {
        return new Http1Connection(settings, receiver, connections, new ConnectionDeadline(), visit, null)
                .addTo(channel, facts);
    }

    /** Puts the connection that was in the fast lane into a channel's pipeline. */
    static Http1Connection install(
            Channel channel,
            FastConnection from,
            RequestReceiver receiver,
            ConnectionSet connections,
            PromotedConnection visit) {
        Http1Connection connection =
                new Http1Connection(from.settings(), receiver, connections, from.deadline(), visit, null);
        connection.requests = from.requests();
        return connection.addTo(channel, from.facts());
    }

    private Http1Connection addTo(Channel channel, @Nullable ClientConnection known) {
        if (known != null) {
            facts = known;
        }
        channel.pipeline().addLast(new Http1RequestDecoder(this, visit == null ? null : visit.scanner()), this);
        return this;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        output = new ConnectionOutput(context);
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
        if (facts == null) {
            facts = new ClientConnection(
                    (InetSocketAddress) channel.remoteAddress(), (InetSocketAddress) channel.localAddress(), false);
        }
        if (!connections.add(this)) {
            closing = true;
            channel.close();
            return;
        }
        Transport.limitUnsent(channel);
    }

    /** Answers the requests with which the bytes begin, where that can be done without the decoder, which is empty; borrows them. */
    void answerDirectly(ByteBuf bytes) {
        if (direct != null && isBetweenRequests()) {
            output.beginRead();
            direct.serve(this, bytes);
        }
    }

    /** Whether the next request may be answered at once: nothing is under way, and the client takes what it is sent. */
    boolean isBetweenRequests() {
        return stream == null && !closing && intake.isEmpty() && ctx.channel().isWritable();
    }

    /** A request begins that is answered past the decoder; true when the connection ends with it. */
    boolean beginDirect(boolean persistent) {
        requests++;
        return !persistent || isLastRequest();
    }

    /** Sends what answers the requests that were begun so; takes ownership. */
    void answered(ByteBuf answers, boolean last, boolean now) {
        output.write(answers);
        intake.forgetDiscarded();
        deadline.await(Waiting.KEEP_ALIVE);
        if (last) {
            lingerAndClose();
        } else if (now) {
            output.flushNow();
        } else {
            output.flush();
        }
    }

    /** Takes up the request that was begun so and needs an exchange. */
    void resume(RequestReading reading, DecidedRequest decided) {
        requests--;
        takeDecided(reading, decided);
    }

    /** Takes up a whole request, of which {@code decided} says what was decided; takes ownership. */
    void takeDecided(RequestReading reading, @Nullable DecidedRequest decided) {
        anyBytes = true;
        takeRequest(reading, decided);
        intake.take(LastHttpContent.EMPTY_LAST_CONTENT);
    }

    /** The decoder got bytes: where a request begins, its time begins. */
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
        intake.read(message);
    }

    /** Whether nothing is under way in either direction, so that the connection may leave its channel. */
    boolean isIdle() {
        Http1RequestDecoder decoder = ctx.pipeline().get(Http1RequestDecoder.class);
        return deadline.isFor(Waiting.KEEP_ALIVE)
                && stream == null
                && tunnel == null
                && !inputEnded
                && !closing
                && intake.isEmpty()
                && decoder != null
                && decoder.isEmpty()
                && !output.isSending();
    }

    /** Goes on in the fast lane, now that the channel is given up. */
    FastConnection demoted(FastLane to, PlainSocket socket, int vainVisits) {
        closing = true;
        return new FastConnection(to, socket, facts, deadline, requests, vainVisits);
    }

    /**
     * Begins an exchange.
     *
     * @param decided what the fast lane has decided about it; null when it did not see it
     */
    void takeRequest(RequestReading reading, @Nullable DecidedRequest decided) {
        if (stream != null) {
            throw new IllegalStateException("a request head within a request");
        }
        requests++;
        long contentBytesMax = settings().contentBytesMax();
        Http1Stream next = new Http1Stream(this, reading, contentBytesMax);
        stream = next;
        BadRequest problem = reading.problem();
        RequestHead head = reading.head();
        if (problem == null && contentBytesMax > 0 && reading.contentLength() > contentBytesMax) {
            problem = BadRequest.CONTENT_TOO_LARGE;
        }
        if (problem != null || head == null) {
            next.closeAfter();
            receiver.onBadRequest(next, problem == null ? BadRequest.SYNTAX : problem);
            return;
        }
        if (isLastRequest() || (inputEnded && intake.isLastWaiting())) {
            next.closeAfter();
        }
        deadline.await(reading.contentLength() == 0 ? Waiting.RESPONSE : Waiting.CONTENT);
        timeouts.contentRate().begin();
        next.handler(
                decided == null ? receiver.onRequest(next, head, reading.contentLength()) : decided.resume(next, head));
    }

    private boolean isLastRequest() {
        int requestsMax = settings().requestsPerConnectionMax();
        return connections.isDraining() || (requestsMax > 0 && requests >= requestsMax);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        handshaken |= event instanceof SslHandshakeCompletionEvent completion && completion.isSuccess();
        if (event instanceof ChannelInputShutdownEvent && !inputEnded) {
            inputEnded = true;
            if (tunnel == null) {
                onInputEnd();
            }
        }
        context.fireUserEventTriggered(event);
    }

    /**
     * The client has shut down its sending side. Requests that came whole are answered, then the connection is closed; content that
     * is not whole never will be. Only a reset or a write that fails says that nobody reads the answer.
     */
    private void onInputEnd() {
        Http1Stream current = stream;
        if (closing) {
            ConnectionEnd.closeAfterWrites(ctx);
        } else if (current == null) {
            // Behind requests that the decoder has kept.
            ctx.executor().execute(this::closeIfDone);
        } else if (current.isRequestEnded()) {
            if (intake.isEmpty() && !current.isLeavingHttp() && !current.isHeadWritten()) {
                current.closeAfter();
            }
        } else if (current.isResponseEnded()) {
            lingerAndClose();
        } else {
            current.failRequest(BadRequest.CONTENT_INCOMPLETE);
        }
    }

    /** Closes the connection when all requests that came before the client's end are answered. */
    private void closeIfDone() {
        if (stream == null && tunnel == null && intake.isEmpty()) {
            lingerAndClose();
        }
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
                Transport.acknowledge(context.channel());
            }
        }
        intake.updateAutoRead();
        context.fireChannelReadComplete();
    }

    /** The current exchange is over on both sides: the next pipelined request, the next read, or the end. */
    void onStreamEnd(Http1Stream ended, boolean close) {
        if (stream != ended) {
            return;
        }
        stream = null;
        Http1RequestDecoder decoder = ctx.pipeline().get(Http1RequestDecoder.class);
        if (ended.isLeavingHttp() && !close && decoder != null) {
            decoder.release(ctx.pipeline().context(decoder));
        }
        if (close) {
            lingerAndClose();
            return;
        }
        intake.forgetDiscarded();
        deadline.await(Waiting.KEEP_ALIVE);
        if (connections.endsIdle() && intake.isEmpty()) {
            lingerAndClose();
        } else {
            intake.takeWaiting();
        }
        if (inputEnded) {
            // Behind requests that the decoder has kept.
            ctx.executor().execute(this::closeIfDone);
        }
        if (visit != null) {
            visit.onAnswered();
        }
    }

    /** Bytes stand behind a request that may end HTTP here: no more are read before its answer is known. */
    void onHeld() {
        ctx.channel().config().setAutoRead(false);
    }

    /** The connection speaks HTTP no longer: what was read and not looked at goes to the tunnel, as does all that comes. */
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
     * Ends the connection after what was written has left: our side is shut first and what the client still sends is dropped for
     * a while, since closing with unread bytes makes the kernel reset the connection and destroy the answer on its way.
     */
    void lingerAndClose() {
        if (closing) {
            return;
        }
        closing = true;
        intake.drop();
        output.flushNow();
        deadline.await(Waiting.LINGER);
        if (inputEnded) {
            ConnectionEnd.closeAfterWrites(ctx);
            return;
        }
        ConnectionEnd.shutAfterWrites(ctx);
        if (ctx.pipeline().get(Http1RequestDecoder.class) != null) {
            ctx.executor().execute(() -> {
                if (!ctx.isRemoved() && ctx.pipeline().get(Http1RequestDecoder.class) != null) {
                    ctx.pipeline().remove(Http1RequestDecoder.class);
                    intake.updateAutoRead();
                }
            });
        }
    }

    void closeNow() {
        closing = true;
        intake.drop();
        ctx.channel().close();
    }

    /**
     * Ends the connection by a reset, past TLS's close: for a response whose end only the connection's end tells, since an orderly
     * one would make the part look like the whole.
     */
    void reset() {
        closing = true;
        intake.drop();
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

    /** The channel is closed. */
    void onGone() {
        closing = true;
        intake.drop();
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

    /** Something threw: the connection ends. */
    void fault(Throwable cause) {
        ConnectionEnd.logFault(log, ctx.channel(), cause);
        closeNow();
    }

    @Override
    public void onTick(long nowNanos) {
        ClientTunnel other = tunnel;
        if (other != null) {
            other.onTick(nowNanos);
        } else if (inputEnded && ConnectionEnd.isReset(ctx.channel())) {
            closeNow();
        } else if (visit == null || !visit.onTick()) {
            timeouts.onTick(nowNanos);
        }
    }

    @Override
    public void addIfBehind(SlowClients slow, long nowNanos) {
        if (slot >= 0 && !(visit != null && visit.isLeaving()) && output.look(nowNanos)) {
            slow.add(timeouts);
        }
    }

    /** Answers 408 when the request head is late. The connection of a client that sent nothing is closed without a response. */
    void onHeaderTimeout() {
        if (!anyBytes) {
            closeNow();
            return;
        }
        Http1Stream late = new Http1Stream(this, RequestReading.none(), 0);
        stream = late;
        late.closeAfter();
        receiver.onBadRequest(late, BadRequest.HEADER_TIMEOUT);
    }

    /** The tunnel that owns the connection after it left HTTP; null while it speaks HTTP. */
    @Nullable
    ClientTunnel tunnel() {
        return tunnel;
    }

    @Override
    public void onDrain(boolean idleToo) {
        if (stream != null) {
            if (idleToo || !stream.isHeadWritten()) {
                stream.closeAfter();
            }
        } else if (idleToo && deadline.isFor(Waiting.KEEP_ALIVE)) {
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

    /** Sends bytes at once; takes ownership. */
    void send(ByteBuf bytes) {
        output.write(bytes);
        output.flushNow();
    }

    /** The exchange under way; null between two. */
    @Nullable
    Http1Stream stream() {
        return stream;
    }

    boolean isClosing() {
        return closing;
    }

    /** Whether its reading is not its own any more: it is on its way to the fast lane, or a tunnel's. */
    boolean isLeaving() {
        return tunnel != null || (visit != null && visit.isLeaving());
    }

    PipelinedRequests intake() {
        return intake;
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

    /** Those in force. */
    Http1Settings settings() {
        return settings.get();
    }

    @Override
    public ClientConnection client() {
        return facts;
    }

    ClientConnection facts() {
        return facts;
    }
}
