package io.millrace.proxy.server;

import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.store.StoreStatistics;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Records an event when a storage path goes offline or online again. Polls the state of each volume once a
 * second, because a volume may fail on any thread. A poll takes microseconds.
 *
 * <p>{@link #check} and {@link #close} are called on one event loop.
 */
public final class DiskWatch implements AutoCloseable {
    private static final long PERIOD_MILLIS = 1_000;

    private final EventLoop loop;
    private final Supplier<List<StoreStatistics.Volume>> volumes;
    private final EventSink events;
    private final LongSupplier clockMillis;
    private final Map<Path, Boolean> offline = new HashMap<>();
    private @Nullable Future<?> ticking;

    /** @param clockMillis returns the current time in epoch milliseconds */
    public DiskWatch(
            EventLoop loop,
            Supplier<List<StoreStatistics.Volume>> volumes,
            EventSink events,
            LongSupplier clockMillis) {
        this.loop = loop;
        this.volumes = volumes;
        this.events = events;
        this.clockMillis = clockMillis;
    }

    /** Starts the timer. Callable by any thread. */
    public void start() {
        ticking = loop.scheduleWithFixedDelay(this::check, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Reads the states, and records an event for each change since the last call. */
    void check() {
        for (StoreStatistics.Volume volume : volumes.get()) {
            boolean isOffline = volume.state() == StoreStatistics.State.OFFLINE;
            boolean wasOffline = Boolean.TRUE.equals(offline.put(volume.path(), isOffline));
            if (isOffline != wasOffline) {
                String text = isOffline ? volume.outOfUse() : "in use again";
                events.record(new Event(
                        clockMillis.getAsLong(),
                        isOffline ? EventKind.DISK_OFFLINE : EventKind.DISK_ONLINE,
                        volume.path().toString(),
                        text));
            }
        }
    }

    @Override
    public void close() {
        if (ticking != null) {
            ticking.cancel(false);
        }
    }
}
