package io.millrace.proxy.fetch;

import io.millrace.proxy.fetch.http1.KeepAlive;
import io.millrace.proxy.fetch.response.OriginResponseDecoder;
import io.millrace.proxy.fetch.response.OriginResponseDecoder.BadResponse;
import io.millrace.proxy.fetch.response.OriginResponseDecoder.ReceivedHead;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.VoidChannelPromise;
import io.netty.channel.socket.ChannelOutputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP/1.1 connection to an origin, from the TCP handshake to its end. Carries one call at a time.
 *
 * <p>One deadline applies at a time. It depends on the awaited event: the next call (idle timeout), the response head,
 * more content, or progress in sending the request's content.
 *
 * <p>Confined to one event loop.
 */
final class OriginConnection extends ChannelInboundHandlerAdapter implements PooledCall.Carrier {
    private static final Logger LOG = LoggerFactory.getLogger(OriginConnection.class);

    /** Response head for a tunnel in which no request is sent to the origin. */
    private static final ResponseHead CONNECTED = ResponseHead.of(200, "Connection established", 1, FieldSection.EMPTY);

    private enum State {
        /** TCP or TLS is not ready. */
        OPENING,
        /** Between calls. */
        IDLE,
        ACTIVE,
        CLOSED
    }

    /** The event that the deadline waits for during a call. */
    private enum Awaited {
        /** The caller must act next, so no deadline applies. */
        CALLER,
        /** The origin must accept more of the unsent request content. */
        REQUEST_PROGRESS,
        HEAD,
        CONTENT
    }

    private final OriginPool pool;
    private final ConnectAttempt attempt;
    private final Channel channel;
    private final OriginResponseDecoder decoder;
    private final Deadline deadline;
    private FetchSettings settings;
    private State state = State.OPENING;
    private @Nullable PooledCall call;
    /** True while the pool keeps the connection as idle. */
    private boolean pooled;
    /** True once the connection has carried a complete response. */
    private boolean served;

    private boolean requestFinished;
    private boolean outputShut;
    private boolean headReceived;
    private boolean reusable;
    private boolean closeDelimited;
    /** True once the origin has sent a TLS close_notify. */
    private boolean closeNotified;
    /** True if the current read delivered a message of the origin. */
    private boolean receivedInRead;

    /** The event for which the deadline was last set. */
    private Awaited armedFor = Awaited.CALLER;
    /**
     * Number of bytes that had to be sent before the channel became writable, at the time when the deadline was set. A
     * lower number later means that the origin has accepted bytes.
     */
    private long writableBefore;

    private long keepAliveNanos = KeepAlive.UNLIMITED;
    private long idleSinceNanos;
    /**
     * The promise of all writes of request heads. No code waits for the result of such a write, so one shared promise
     * replaces a new one for each request.
     */
    private final ChannelPromise headWritten;

    /** The task that flushes all requests of one event loop iteration together, so that the origin is woken once. */
    private final Runnable flushTask = this::flushQueued;

    private boolean flushQueued;

    OriginConnection(OriginPool pool, ConnectAttempt attempt, Channel channel, OriginResponseDecoder decoder) {
        this.pool = pool;
        this.attempt = attempt;
        this.channel = channel;
        this.decoder = decoder;
        headWritten = new VoidChannelPromise(channel, false);
        settings = attempt.settings();
        deadline = new Deadline(pool.eventLoop(), this::deadlineReached);
    }

    /** The settings of the last call, which also determine the idle timeout. */
    FetchSettings settings() {
        return settings;
    }

    /** Returns true if the connection may carry only the request that it was made for. */
    boolean isForOneRequest() {
        return attempt.isForOneRequest();
    }

    boolean hasServed() {
        return served;
    }

    /**
     * Returns true if a call with these settings may use the connection. The settings may have a shorter idle timeout
     * than those in force when the connection became idle.
     */
    boolean isUsable(FetchSettings now) {
        return state == State.IDLE
                && channel.isActive()
                && (now.keepAliveIdleNanos() >= settings.keepAliveIdleNanos()
                        || deadline.now() - idleSinceNanos < now.keepAliveIdleNanos());
    }

    /** Keeps the connection for later calls. It closes at the end of the idle timeout. */
    void keepIdle() {
        pooled = true;
        idleSinceNanos = deadline.now();
        deadline.set(Math.min(settings.keepAliveIdleNanos(), keepAliveNanos));
    }

    /** Closes the connection between two calls, after the pool has removed it. */
    void closeUnused() {
        pooled = false;
        close();
    }

    @Override
    public void start(PooledCall started) {
        pooled = false;
        state = State.ACTIVE;
        call = started;
        OriginRequest request = started.request();
        settings = request.settings();
        if (request.isTunnel()) {
            decoder.expectTunnel();
            switched(started, CONNECTED);
            return;
        }
        requestFinished = !request.hasContent();
        headReceived = false;
        reusable = false;
        closeDelimited = false;
        armedFor = Awaited.CALLER;
        deadline.clear();
        decoder.expectResponse(
                request.method() == Method.HEAD, request.isConnect(), request.upgrade(), settings.responseHeadMax());
        if (started.isPaused()) {
            channel.config().setAutoRead(false);
        }
        channel.write(RequestEncoder.head(request, channel.alloc()), headWritten);
        if (!flushQueued) {
            flushQueued = true;
            pool.client().atEndOfIteration(flushTask);
        }
        armDeadline();
    }

    private void flushQueued() {
        flushQueued = false;
        channel.flush();
    }

    @Override
    public void writeContent(ByteBuf piece, boolean chunked) {
        if (outputShut) {
            piece.release();
            return;
        }
        if (chunked) {
            channel.write(RequestEncoder.chunkStart(piece.readableBytes(), channel.alloc()));
            channel.write(piece);
            channel.writeAndFlush(RequestEncoder.chunkEnd(channel.alloc()));
        } else {
            channel.writeAndFlush(piece);
        }
        armDeadline();
    }

    @Override
    public void finishRequest() {
        PooledCall current = call;
        if (current == null) {
            return;
        }
        requestFinished = true;
        if (current.request().contentLength() < 0 && !outputShut) {
            channel.writeAndFlush(RequestEncoder.lastChunk(channel.alloc()));
        }
        armDeadline();
    }

    @Override
    public boolean isRequestWritable() {
        return !outputShut && channel.isWritable();
    }

    @Override
    public void pauseReading() {
        channel.config().setAutoRead(false);
        armDeadline();
    }

    @Override
    public void resumeReading() {
        channel.config().setAutoRead(true);
        armDeadline();
    }

    @Override
    public void abandon() {
        if (state == State.ACTIVE) {
            call = null;
            close();
        }
    }

    /** Fails the connection and its call, or retries the call on another connection if that is safe. */
    @Override
    public void fail(OriginFailure.Reason reason, String problem) {
        if (state == State.OPENING) {
            state = State.CLOSED;
            attempt.notReady(channel, reason, problem);
            channel.close();
            return;
        }
        if (state == State.CLOSED) {
            return;
        }
        PooledCall current = call;
        call = null;
        boolean stale = reason == OriginFailure.Reason.RESET && served && !decoder.hasAnyBytes();
        if (current != null && stale && current.isRetryable()) {
            closeThen(current::retry);
        } else if (current != null) {
            closeThen(() -> current.failed(reason, pool.origin() + ": " + problem, !headReceived));
        } else {
            close();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (!pool.origin().isSecure()) {
            ready();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (handshake.isSuccess()) {
                ready();
            } else {
                fail(OriginFailure.Reason.TLS, "TLS handshake: " + text(handshake.cause()));
            }
        } else if (event instanceof SslCloseCompletionEvent end) {
            closeNotified = end.isSuccess();
        } else if (event instanceof ChannelOutputShutdownEvent) {
            // The origin accepts no more content, but its response may be on the way.
            outputShut = true;
            requestFinished = true;
            armDeadline();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        receivedInRead = true;
        PooledCall current = call;
        if (message instanceof BadResponse bad) {
            fail(OriginFailure.Reason.BAD_RESPONSE, bad.problem());
        } else if (current == null) {
            ReferenceCountUtil.release(message);
        } else if (message instanceof ReceivedHead received) {
            if (received.head().status() == 101
                    || (current.request().isConnect() && received.head().isSuccessful())) {
                switched(current, received.head());
            } else if (received.head().isInterim()) {
                armedFor = Awaited.CALLER;
                current.interim(received.head());
            } else {
                headReceived = true;
                keepAliveNanos = KeepAlive.idleNanos(received.head().fields());
                reusable = received.reusable() && keepAliveNanos > 0;
                closeDelimited = received.framing().isCloseDelimited();
                current.head(received.head(), received.framing());
            }
        } else if (message instanceof HttpContent content) {
            content(current, content);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (state == State.ACTIVE && receivedInRead) {
            receivedInRead = false;
            armDeadline();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        PooledCall current = call;
        if (current != null) {
            armDeadline();
            current.requestWritable();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (decoder.hasAnyBytes() && call != null) {
            fail(
                    OriginFailure.Reason.TRUNCATED,
                    headReceived
                            ? "the connection was closed in the middle of the content"
                            : "the connection was closed in the middle of the head");
        } else {
            fail(OriginFailure.Reason.RESET, "the connection was closed before a response");
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        Throwable root = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
        if (root instanceof SSLException) {
            fail(OriginFailure.Reason.TLS, text(root));
        } else if (root instanceof IOException) {
            fail(OriginFailure.Reason.RESET, text(root));
        } else if (root instanceof OutOfMemoryError) {
            // The failed allocation was already counted and logged.
            fail(OriginFailure.Reason.MEMORY, "no memory to receive the response");
        } else {
            LOG.warn("{}: the fetch was aborted after an internal error", channel, root);
            fail(OriginFailure.Reason.INTERNAL, root.toString());
        }
    }

    private void ready() {
        if (state != State.OPENING) {
            return;
        }
        if (attempt.isHttp2(channel)) {
            state = State.CLOSED;
            attempt.readyForHttp2(channel);
            channel.pipeline().remove(this);
            channel.pipeline().remove(decoder);
            return;
        }
        state = State.IDLE;
        attempt.ready(channel, this);
    }

    /**
     * Hands the connection over to the caller after a protocol switch. The pool still counts the connection until it is
     * closed.
     */
    private void switched(PooledCall current, ResponseHead head) {
        state = State.CLOSED;
        call = null;
        deadline.cancel();
        channel.config().setAutoRead(false);
        channel.closeFuture().addListener(closed -> {
            pool.closedActive();
            pool.afterClose();
        });
        current.switched(head, new SwitchedConnection(channel, this, decoder));
    }

    private void content(PooledCall current, HttpContent message) {
        ByteBuf content = message.content();
        if (content.isReadable()) {
            current.content(content);
        } else {
            content.release();
        }
        if (message instanceof LastHttpContent last && call == current) {
            responseEnded(current, trailers(last.trailingHeaders()));
        }
    }

    private void responseEnded(PooledCall current, @Nullable FieldSection trailers) {
        if (closeDelimited && pool.origin().isSecure() && !closeNotified) {
            fail(
                    OriginFailure.Reason.TRUNCATED,
                    "the TLS connection ended without close_notify, so the content without a length may be truncated");
            return;
        }
        call = null;
        if (reusable
                && requestFinished
                && !outputShut
                && !decoder.hasRemainingBytes()
                && current.request().settings().keepAlive()
                && !current.request().needsOwnConnection()
                && channel.isActive()) {
            served = true;
            state = State.IDLE;
            deadline.clear();
            if (current.isPaused()) {
                channel.config().setAutoRead(true);
            }
            pool.release(this);
            current.completed(trailers);
        } else {
            closeThen(() -> current.completed(trailers));
        }
    }

    private void close() {
        closeThen(() -> {});
    }

    /**
     * Closes the connection, then ends or retries its call, then lets the pool start waiting calls. In this order, a
     * retried call gets the place of the closed connection.
     */
    private void closeThen(Runnable endCall) {
        if (state == State.CLOSED) {
            return;
        }
        State was = state;
        state = State.CLOSED;
        deadline.cancel();
        channel.close();
        if (was == State.ACTIVE) {
            pool.closedActive();
            try {
                endCall.run();
            } finally {
                pool.afterClose();
            }
        } else if (pooled) {
            pool.closedIdle(this);
        }
    }

    /**
     * Sets the deadline for the currently awaited event. The time restarts when the event changes, and at every piece
     * of content.
     */
    private void armDeadline() {
        PooledCall current = call;
        if (state != State.ACTIVE || current == null) {
            return;
        }
        Awaited next = awaited(current);
        if (next == armedFor && next != Awaited.CONTENT) {
            return;
        }
        armedFor = next;
        FetchSettings limits = current.request().settings();
        switch (next) {
            case CALLER -> deadline.clear();
            case REQUEST_PROGRESS -> {
                writableBefore = channel.bytesBeforeWritable();
                deadline.set(limits.requestIdleTimeoutNanos());
            }
            case HEAD -> deadline.set(limits.firstByteTimeoutNanos());
            case CONTENT -> deadline.set(limits.responseIdleTimeoutNanos());
        }
    }

    private Awaited awaited(PooledCall current) {
        if (!requestFinished && !channel.isWritable()) {
            return Awaited.REQUEST_PROGRESS;
        }
        if (current.isPaused()) {
            return Awaited.CALLER;
        }
        if (headReceived) {
            return Awaited.CONTENT;
        }
        return requestFinished || current.awaitsContinue() ? Awaited.HEAD : Awaited.CALLER;
    }

    private void deadlineReached() {
        PooledCall current = call;
        if (state == State.IDLE) {
            close();
            return;
        }
        if (current == null) {
            return;
        }
        FetchSettings limits = current.request().settings();
        switch (armedFor) {
            case CALLER -> {}
            case REQUEST_PROGRESS -> {
                if (channel.bytesBeforeWritable() < writableBefore) {
                    armedFor = Awaited.CALLER;
                    armDeadline();
                } else {
                    fail(
                            OriginFailure.Reason.REQUEST_TIMEOUT,
                            "the origin read none of the request's content within "
                                    + PooledOriginClient.millis(limits.requestIdleTimeoutNanos()));
                }
            }
            case HEAD ->
                fail(
                        OriginFailure.Reason.FIRST_BYTE_TIMEOUT,
                        "no response head within " + PooledOriginClient.millis(limits.firstByteTimeoutNanos()));
            case CONTENT ->
                fail(
                        OriginFailure.Reason.IDLE_TIMEOUT,
                        "no content for " + PooledOriginClient.millis(limits.responseIdleTimeoutNanos()));
        }
    }

    private @Nullable FieldSection trailers(HttpHeaders received) {
        if (received.isEmpty()) {
            return null;
        }
        FieldSection.Builder fields = FieldSection.builder();
        for (Map.Entry<String, String> line : received) {
            try {
                fields.add(line.getKey(), line.getValue());
            } catch (IllegalArgumentException e) {
                LOG.debug("{}: trailer dropped: {}", channel, e.getMessage());
            }
        }
        return fields.build();
    }

    private static String text(Throwable cause) {
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
