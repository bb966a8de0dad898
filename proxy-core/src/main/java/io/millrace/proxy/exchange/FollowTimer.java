package io.millrace.proxy.exchange;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how long an exchange waits for the head of another one's fetch.
 *
 * <p>Confined to one event loop.
 */
final class FollowTimer {
    private @Nullable Future<?> timeout;

    void start(EventExecutor loop, long waitNanos, Runnable late) {
        timeout = loop.schedule(late, waitNanos, TimeUnit.NANOSECONDS);
    }

    void cancel() {
        Future<?> pending = timeout;
        timeout = null;
        if (pending != null) {
            pending.cancel(false);
        }
    }
}
