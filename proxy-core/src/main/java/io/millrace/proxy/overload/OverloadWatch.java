package io.millrace.proxy.overload;

import com.sun.management.OperatingSystemMXBean;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The timer that evaluates all overload gauges once a second, on one event loop.
 *
 * <p>The thread that starts the proxy calls {@link #start}. {@link #close} is called on the event loop.
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

    /** Starts the timer. */
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
