package io.millrace.proxy.admin;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tells of a request that has begun and is not whole in time: a client that sends a byte now and then is never idle, and would
 * hold one of the few connections for ever, without a token. Stands in front of the codec. Confined to one event loop.
 */
final class RequestDeadline extends ChannelInboundHandlerAdapter {
    private Duration time;
    private final boolean fromStart;
    private @Nullable ScheduledFuture<?> deadline;
    private @Nullable ChannelHandlerContext loop;

    /** What the handlers behind it are told. */
    record Passed(Duration time) {}

    /**
     * @param time from the first byte of a request to its last
     * @param fromStart whether the first request has its time from the connection's start
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
        loop = context;
        Duration now = time;
        deadline = context.executor()
                .schedule(() -> context.fireUserEventTriggered(new Passed(now)), now.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Requests have more time from now on, the one that is being received too. */
    void lengthen(Duration longer) {
        time = longer;
        ChannelHandlerContext context = loop;
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

    /** A request is whole; the next begins with the next byte. */
    void met() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        met();
        context.fireChannelInactive();
    }
}
