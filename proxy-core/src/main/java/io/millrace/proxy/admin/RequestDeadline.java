package io.millrace.proxy.admin;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Reports a request that is not complete in time. A client that sends a byte from time to time is never idle and could
 * otherwise keep a connection open without a token. This handler is placed before the codec. Confined to one event
 * loop.
 */
final class RequestDeadline extends ChannelInboundHandlerAdapter {
    private Duration time;
    private final boolean fromStart;
    private @Nullable ScheduledFuture<?> deadline;
    private @Nullable ChannelHandlerContext startContext;

    /** The event that tells the next handlers that the time has passed. */
    record Passed(Duration time) {}

    /**
     * @param time time to receive a request, from its first to its last byte
     * @param fromStart whether the time of the first request begins with the connection
     */
    RequestDeadline(Duration time, boolean fromStart) {
        this.time = time;
        this.fromStart = fromStart;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        if (fromStart) {
            start(context);
        }
        context.fireChannelActive();
    }

    private void start(ChannelHandlerContext context) {
        startContext = context;
        Duration limit = time;
        deadline = context.executor()
                .schedule(
                        () -> context.fireUserEventTriggered(new Passed(limit)), limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Sets a longer time for all requests. For the request that is being received, the time begins again now. */
    void lengthen(Duration longer) {
        time = longer;
        ChannelHandlerContext context = startContext;
        if (deadline != null && context != null) {
            deadline.cancel(false);
            start(context);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (deadline == null) {
            start(context);
        }
        context.fireChannelRead(message);
    }

    /** Ends the time of a complete request; the next request begins with the next byte. */
    void stop() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        stop();
        context.fireChannelInactive();
    }
}
