package io.millrace.proxy.http1;

import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's HTTP/1.1 connection in the channel lane. Requests are answered one at a time in their order; what a client
 * pipelines behind the current one waits decoded, at most one read of it, while reading is stopped.
 *
 * <p>The seam for the fast lane: a lean handle that meets a request it does not take registers a channel over the same
 * descriptor, calls {@link #install} on its pipeline and fires the bytes that it has read and not answered.
 *
 * <p>Confined to one event loop.
 */
public final class Http1Connection extends ChannelInboundHandlerAdapter implements ConnectionSet.Member {
    private static final Logger log = LoggerFactory.getLogger(Http1Connection.class);

    /** Decoded objects that may wait behind the current request: more than one read of 64 KiB can hold of honest requests. */
    private static final int PENDING_MAX = 8192;
    /** Request content that is read and dropped after an early answer, so that the client reads the answer before a reset. */
    private static final long DISCARD_BYTES_MAX = 256 * 1024;
    /** How long that may take. */
    private static final long LINGER_NANOS = 2_000_000_000L;
    /** A deadline that the next tick sets. */
    private static final long UNSET = 0;

    /** What the connection waits for, and so which timeout holds. */
    private enum Waiting {
        HEADER,
        KEEP_ALIVE,
        CONTENT,
        RESPONSE,
        LINGER
    }

    private final Http1Settings settings;
    private final RequestReceiver receiver;
    private final ConnectionSet connections;
    private final ArrayDeque<Object> pending = new ArrayDeque<>(0);

    private ChannelHandlerContext ctx;
    private ClientConnection facts;
    private @Nullable Http1Stream stream;
    private int slot = -1;
    private int requests;
    private boolean inRead;
    private boolean flushWanted;
    private boolean taking;
    private boolean closing;
    private boolean anyBytes;
    private long discarded;
    private Waiting waiting = Waiting.HEADER;
    private long deadlineNanos = UNSET;
    private long unsentBytes;
    private long unsentSinceNanos;

    @SuppressWarnings("NullAway.Init") // ctx and facts are set by handlerAdded and channelActive, before anything else
    private Http1Connection(Http1Settings settings, RequestReceiver receiver, ConnectionSet connections) {
        this.settings = settings;
        this.receiver = receiver;
        this.connections = connections;
    }

    /** Puts HTTP/1.1 at the end of a channel's pipeline; the channel may be active already. */
    public static void install(
            Channel channel, Http1Settings settings, RequestReceiver receiver, ConnectionSet connections) {
        Http1Connection connection = new Http1Connection(settings, receiver, connections);
        channel.pipeline().addLast(new Http1RequestDecoder(settings, connection), connection);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
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
        facts = new ClientConnection(
                (InetSocketAddress) channel.remoteAddress(),
                (InetSocketAddress) channel.localAddress(),
                channel.pipeline().get(SslHandler.class) != null);
        if (!connections.add(this)) {
            closing = true;
            channel.close();
        }
    }

    /** The decoder got bytes: where a request begins, its time begins. */
    void onBytes() {
        anyBytes = true;
        if (waiting == Waiting.KEEP_ALIVE) {
            await(Waiting.HEADER);
        } else if (waiting == Waiting.CONTENT) {
            deadlineNanos = UNSET;
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        inRead = true;
        if (closing || !(message instanceof RequestReading || message instanceof HttpContent)) {
            discard(message);
            return;
        }
        if (!pending.isEmpty() || (stream != null && stream.isRequestEnded())) {
            if (pending.size() >= PENDING_MAX) {
                ReferenceCountUtil.release(message);
                closeNow();
                return;
            }
            pending.add(message);
            if (pending.size() == 1) {
                context.channel().config().setAutoRead(false);
            }
            return;
        }
        take(message);
    }

    private void discard(Object message) {
        if (message instanceof ByteBuf bytes) {
            discarded += bytes.readableBytes();
        } else if (message instanceof HttpContent content) {
            discarded += content.content().readableBytes();
        }
        ReferenceCountUtil.release(message);
        if (discarded > DISCARD_BYTES_MAX) {
            closeNow();
        }
    }

    private void take(Object message) {
        if (message instanceof RequestReading reading) {
            takeRequest(reading);
        } else if (message instanceof HttpContent content) {
            takeContent(content);
        }
    }

    private void takeRequest(RequestReading reading) {
        if (stream != null) {
            throw new IllegalStateException("a request head within a request");
        }
        requests++;
        Http1Stream next = new Http1Stream(this, reading);
        stream = next;
        BadRequest problem = reading.problem();
        RequestHead head = reading.head();
        if (problem == null && settings.contentBytesMax() > 0 && reading.contentLength() > settings.contentBytesMax()) {
            problem = BadRequest.CONTENT_TOO_LARGE;
        }
        if (problem != null || head == null) {
            next.closeAfter();
            receiver.onBadRequest(next, problem == null ? BadRequest.SYNTAX : problem);
            return;
        }
        if (connections.isDraining()
                || (settings.requestsPerConnectionMax() > 0 && requests >= settings.requestsPerConnectionMax())) {
            next.closeAfter();
        }
        await(reading.contentLength() == 0 ? Waiting.RESPONSE : Waiting.CONTENT);
        next.handler(receiver.onRequest(next, head, reading.contentLength()));
    }

    private void takeContent(HttpContent content) {
        Http1Stream current = stream;
        if (current == null) {
            content.release();
            return;
        }
        boolean last = content instanceof LastHttpContent;
        if (content.decoderResult().isFailure()) {
            content.release();
            current.failRequest(BadRequest.SYNTAX);
            return;
        }
        ByteBuf bytes = content.content();
        if (!bytes.isReadable() || current.isResponseEnded()) {
            discarded += bytes.readableBytes();
            bytes.release();
        } else if (!current.takeContent(bytes, settings.contentBytesMax())) {
            return;
        }
        if (last) {
            if (waiting == Waiting.CONTENT) {
                await(Waiting.RESPONSE);
            }
            current.endRequest();
        } else if (discarded > DISCARD_BYTES_MAX) {
            closeNow();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        inRead = false;
        if (flushWanted) {
            flushWanted = false;
            context.flush();
        }
        regulateReading();
        context.fireChannelReadComplete();
    }

    /** Reads while the next request may come or the current one's content is wanted; else the kernel holds the rest. */
    void regulateReading() {
        if (!ctx.channel().isActive()) {
            return;
        }
        Http1Stream current = stream;
        boolean wanted = closing
                || current == null
                || (!current.isRequestEnded() && (current.wantsContent() || current.isResponseEnded()));
        if (!wanted || !inRead) {
            ctx.channel().config().setAutoRead(wanted);
        }
    }

    /** The current exchange is over on both sides: the next pipelined request, the next read, or the end. */
    void onStreamEnd(Http1Stream ended, boolean close) {
        if (stream != ended) {
            return;
        }
        stream = null;
        if (close) {
            lingerAndClose();
            return;
        }
        discarded = 0;
        await(Waiting.KEEP_ALIVE);
        if (connections.isDraining() && pending.isEmpty()) {
            lingerAndClose();
        } else if (!taking) {
            takePending();
        }
    }

    private void takePending() {
        taking = true;
        try {
            while (!pending.isEmpty() && !closing && (stream == null || !stream.isRequestEnded())) {
                take(pending.remove());
            }
        } finally {
            taking = false;
        }
        regulateReading();
    }

    /**
     * Ends the connection after what was written has left: our side is shut first and what the client still sends is dropped for
     * a while, since closing with unread bytes makes the kernel reset the connection and destroy the answer on its way.
     */
    private void lingerAndClose() {
        if (closing) {
            return;
        }
        closing = true;
        releasePending();
        await(Waiting.LINGER);
        Channel channel = ctx.channel();
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
            SslHandler tls = ctx.pipeline().get(SslHandler.class);
            if (!written.isSuccess()) {
                channel.close();
            } else if (tls == null) {
                shutdownOutput(channel);
            } else {
                tls.closeOutbound().addListener(notified -> shutdownOutput(channel));
            }
        });
        if (ctx.pipeline().get(Http1RequestDecoder.class) != null) {
            ctx.executor().execute(() -> {
                if (!ctx.isRemoved() && ctx.pipeline().get(Http1RequestDecoder.class) != null) {
                    ctx.pipeline().remove(Http1RequestDecoder.class);
                    regulateReading();
                }
            });
        }
    }

    private static void shutdownOutput(Channel channel) {
        if (channel instanceof SocketChannel socket && socket.isActive()) {
            socket.shutdownOutput();
        } else {
            channel.close();
        }
    }

    void closeNow() {
        closing = true;
        releasePending();
        ctx.channel().close();
    }

    /**
     * Ends the connection by a reset, past TLS's close: for a response whose end only the connection's end tells, since an orderly
     * one would make the part look like the whole.
     */
    void reset() {
        closing = true;
        releasePending();
        if (ctx.channel().isActive()) {
            ctx.channel().config().setOption(ChannelOption.SO_LINGER, 0);
        }
        ctx.pipeline().firstContext().close();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (stream != null && context.channel().isWritable()) {
            stream.onWritable();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        closing = true;
        releasePending();
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
        if (cause instanceof IOException || cause.getCause() instanceof javax.net.ssl.SSLException) {
            log.debug("{}: connection failed", context.channel(), cause);
        } else {
            log.warn("{}: connection closed after a fault", context.channel(), cause);
        }
        closeNow();
    }

    @Override
    public void onTick(long nowNanos) {
        Http1Stream current = stream;
        if (waiting == Waiting.RESPONSE || (waiting != Waiting.CONTENT && isSending())) {
            deadlineNanos = UNSET;
            checkSending(nowNanos);
            return;
        }
        if (waiting == Waiting.CONTENT && current != null && !current.wantsContent() && !current.isResponseEnded()) {
            deadlineNanos = UNSET;
            return;
        }
        if (deadlineNanos == UNSET) {
            deadlineNanos = nowNanos + timeoutNanos();
            return;
        }
        if (nowNanos - deadlineNanos < 0) {
            return;
        }
        if (waiting == Waiting.CONTENT && current != null) {
            current.failRequest(BadRequest.CONTENT_TIMEOUT);
        } else if (waiting == Waiting.HEADER && anyBytes && current == null) {
            Http1Stream late = new Http1Stream(this, RequestReading.none());
            stream = late;
            late.closeAfter();
            receiver.onBadRequest(late, BadRequest.HEADER_TIMEOUT);
        } else {
            closeNow();
        }
    }

    /** Whether bytes of a response have not left yet: no other time runs meanwhile than that of the sending. */
    private boolean isSending() {
        return unsent() > 0;
    }

    /** Bytes that the kernel has not taken. Netty's own count falls only when a whole buffer has left. */
    private long unsent() {
        ChannelOutboundBuffer buffers = ctx.channel().unsafe().outboundBuffer();
        return buffers == null ? 0 : Math.max(0, buffers.totalPendingWriteBytes() - buffers.currentProgress());
    }

    private long timeoutNanos() {
        return switch (waiting) {
            case HEADER -> settings.headerTimeoutNanos();
            case KEEP_ALIVE -> settings.keepAliveTimeoutNanos();
            case CONTENT -> settings.contentTimeoutNanos();
            case RESPONSE -> settings.sendTimeoutNanos();
            case LINGER -> LINGER_NANOS;
        };
    }

    private void checkSending(long nowNanos) {
        long unsent = unsent();
        if (unsent == 0 || unsent != unsentBytes) {
            unsentBytes = unsent;
            unsentSinceNanos = nowNanos;
        } else if (nowNanos - unsentSinceNanos > settings.sendTimeoutNanos()) {
            closeNow();
        }
    }

    private void await(Waiting what) {
        waiting = what;
        deadlineNanos = UNSET;
    }

    @Override
    public void onDrain() {
        if (stream != null) {
            stream.closeAfter();
        } else if (waiting == Waiting.KEEP_ALIVE) {
            lingerAndClose();
        }
    }

    @Override
    public void onClose() {
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

    private void releasePending() {
        while (!pending.isEmpty()) {
            ReferenceCountUtil.release(pending.remove());
        }
    }

    void write(ByteBuf bytes) {
        ctx.write(bytes, ctx.voidPromise());
    }

    void flush() {
        if (inRead) {
            flushWanted = true;
        } else {
            ctx.flush();
        }
    }

    ChannelHandlerContext context() {
        return ctx;
    }

    ClientConnection facts() {
        return facts;
    }
}
