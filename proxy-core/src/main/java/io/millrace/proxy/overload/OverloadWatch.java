package io.millrace.proxy.overload;

import com.sun.management.OperatingSystemMXBean;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Ends a window of every gauge once a second, on one event loop.
 *
 * <p>{@link #start} and {@link #close} are for the thread that starts and stops the proxy; {@link #close} on the loop.
 */
public final class OverloadWatch implements AutoCloseable {
    private static final long WINDOW_MILLIS = 1_000;

    private final EventLoop loop;
    private final Overload overload;
    private final OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private @Nullable Future<?> ticking;

    public OverloadWatch(EventLoop loop, Overload overload) {
        this.loop = loop;
        this.overload = overload;
    }

    /** Begins to watch. */
    public void start() {
        ticking = loop.scheduleWithFixedDelay(this::tick, WINDOW_MILLIS, WINDOW_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void tick() {
        overload.evaluate(loop.ticker().nanoTime(), system::getProcessCpuTime, system.getAvailableProcessors());
    }

    @Override
    public void close() {
        if (ticking != null) {
            ticking.cancel(false);
        }
    }
}
