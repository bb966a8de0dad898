package io.millrace.proxy.exchange.forward;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits the time that an exchange waits for the response head of another exchange's fetch.
 *
 * <p>Confined to one event loop.
 */
public final class FollowTimer {
    private @Nullable Future<?> timeout;

    public void start(EventExecutor loop, long waitNanos, Runnable onTimeout) {
        timeout = loop.schedule(onTimeout, waitNanos, TimeUnit.NANOSECONDS);
    }

    public void cancel() {
        Future<?> pending = timeout;
        timeout = null;
        if (pending != null) {
            pending.cancel(false);
        }
    }
}
