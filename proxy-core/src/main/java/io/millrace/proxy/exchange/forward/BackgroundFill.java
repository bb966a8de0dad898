package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.config.key.FillConfig;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Whether a fill goes on when its last client has left, and for how long.
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
     * Whether so much has come that the rest is worth fetching. What has no known length is.
     *
     * @param length bytes of the body, -1 when unknown
     */
    public boolean isWorthwhile(long received, long length) {
        return length <= 0 || received >= config.completedThreshold() * length;
    }

    /** Bounds the time from now on that it goes on without clients. */
    public void bound(Runnable late) {
        if (config.activeTimeoutNanos() > 0 && timeout == null) {
            timeout = loop.schedule(
                    () -> {
                        timeout = null;
                        late.run();
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
