package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.config.key.FillConfig;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether and how long a response is still stored after its last client has left.
 *
 * <p>Confined to one event loop.
 */
public final class BackgroundFill {
    private final FillConfig config;
    private final EventExecutor loop;

    private @Nullable Future<?> timeout;

    public BackgroundFill(FillConfig config, EventExecutor loop) {
        this.config = config;
        this.loop = loop;
    }

    /**
     * Returns true if enough bytes have arrived to justify fetching the rest. A body of unknown length is always
     * worthwhile.
     *
     * @param length bytes of the body, -1 when unknown
     */
    public boolean isWorthwhile(long received, long length) {
        return length <= 0 || received >= config.completedThreshold() * length;
    }

    /**
     * Limits the time for which the fetch continues without clients. Runs {@code onTimeout} at the end of this time.
     */
    public void limitTime(Runnable onTimeout) {
        if (config.activeTimeoutNanos() > 0 && timeout == null) {
            timeout = loop.schedule(
                    () -> {
                        timeout = null;
                        onTimeout.run();
                    },
                    config.activeTimeoutNanos(),
                    TimeUnit.NANOSECONDS);
        }
    }

    public void cancel() {
        Future<?> pending = timeout;
        timeout = null;
        if (pending != null) {
            pending.cancel(false);
        }
    }
}
