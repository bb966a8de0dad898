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
    private final Duration time;
    private @Nullable ScheduledFuture<?> deadline;

    /** What the handlers behind it are told. */
    record Passed(Duration time) {}

    /** @param time from the first byte of a request to its last */
    RequestDeadline(Duration time) {
        this.time = time;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (deadline == null) {
            deadline = context.executor()
                    .schedule(
                            () -> context.fireUserEventTriggered(new Passed(time)),
                            time.toNanos(),
                            TimeUnit.NANOSECONDS);
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
