package io.millrace.proxy.fetch;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A timer for a deadline that moves often and is seldom reached. Uses at most one scheduled task.
 *
 * <p>Moving the deadline later, or clearing it, only writes a field. The task checks the field when it runs, and
 * reschedules itself for the remaining time. Only an earlier deadline replaces the task.
 *
 * <p>Confined to one event loop.
 */
final class Deadline implements Runnable {

    private static final long NONE = Long.MAX_VALUE;

    private final EventLoop eventLoop;
    private final Runnable onReached;
    /** The deadline, by the event loop's clock. */
    private long nanosAt = NONE;

    /** The time at which {@link #task} runs. */
    private long taskNanosAt;

    private @Nullable Future<?> task;

    /** Creates a deadline that is not set. {@code onReached} runs on the event loop each time a set deadline passes. */
    Deadline(EventLoop eventLoop, Runnable onReached) {
        this.eventLoop = eventLoop;
        this.onReached = onReached;
    }

    /** Sets the deadline to this many nanoseconds from now. */
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

    /** Clears the deadline. The task stays scheduled. */
    void clear() {
        nanosAt = NONE;
    }

    /** Clears the deadline and cancels the task. */
    void cancel() {
        nanosAt = NONE;
        if (task != null) {
            task.cancel(false);
            task = null;
        }
    }

    /** Nanoseconds left; 0 or less after the deadline, a very large number when none is set. */
    long remainingNanos() {
        return nanosAt == NONE ? NONE : nanosAt - now();
    }

    /** The scheduled task. Calls {@code onReached}, reschedules itself, or does nothing. */
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
