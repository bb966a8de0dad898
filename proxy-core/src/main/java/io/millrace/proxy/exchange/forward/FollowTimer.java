package io.millrace.proxy.exchange.forward;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A timeout of an exchange: for another exchange's fetch, or for the whole request.
 *
 * <p>Confined to one event loop.
 */
public final class FollowTimer {
    private @Nullable Future<?> timeout;

    public void start(EventExecutor loop, long waitNanos, Runnable late) {
        timeout = loop.schedule(late, waitNanos, TimeUnit.NANOSECONDS);
    }

    public void cancel() {
        Future<?> pending = timeout;
        timeout = null;
        if (pending != null) {
            pending.cancel(false);
        }
    }
}
