package io.millrace.proxy.fetch;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One deadline that moves often and is seldom reached, at the price of at most one scheduled task.
 *
 * <p>Moving it later, or clearing it, only writes a field: the task finds out when it runs and schedules itself again for the rest. Only an earlier deadline
 * replaces the task.
 *
 * <p>Confined to one event loop.
 */
final class Deadline implements Runnable {

    private static final long NONE = Long.MAX_VALUE;

    private final EventLoop eventLoop;
    private final Runnable onReached;
    private long nanosAt = NONE;
    private long taskNanosAt;
    private @Nullable Future<?> task;

    /** A deadline that is not set. {@code onReached} runs on the event loop each time a set one passes. */
    Deadline(EventLoop eventLoop, Runnable onReached) {
        this.eventLoop = eventLoop;
        this.onReached = onReached;
    }

    /** The deadline is this many nanoseconds from now. */
    void set(long delayNanos) {
        long now = now();
        nanosAt = delayNanos > Long.MAX_VALUE / 4 ? NONE : now + delayNanos;
        if (nanosAt == NONE) {
            return;
        }
        if (task != null) {
            if (taskNanosAt - nanosAt <= 0) {
                return;
            }
            task.cancel(false);
        }
        schedule(delayNanos);
    }

    /** There is no deadline. */
    void clear() {
        nanosAt = NONE;
    }

    /** There is no deadline and will be none: the task goes as well. */
    void cancel() {
        nanosAt = NONE;
        if (task != null) {
            task.cancel(false);
            task = null;
        }
    }

    /** Nanoseconds left; 0 or less when passed, a very large number when not set. */
    long remainingNanos() {
        return nanosAt == NONE ? NONE : nanosAt - now();
    }

    /** The task: due, early, or of no use any more. */
    @Override
    public void run() {
        task = null;
        if (nanosAt == NONE) {
            return;
        }
        long remaining = nanosAt - now();
        if (remaining > 0) {
            schedule(remaining);
            return;
        }
        nanosAt = NONE;
        onReached.run();
    }

    long now() {
        return eventLoop.ticker().nanoTime();
    }

    private void schedule(long delayNanos) {
        taskNanosAt = nanosAt;
        task = eventLoop.schedule(this, delayNanos, TimeUnit.NANOSECONDS);
    }
}
