package io.millrace.proxy.memory;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * One event loop's view of the shared budget for bytes in flight. Counts received bytes in a field of this loop, and
 * updates the shared value once per batch. So a request does not write to memory that other loops read.
 *
 * <p>Not thread-safe; confined to its event loop.
 */
public final class LoopMemory {
    /** Limit of the size of a receive buffer in bytes while memory is scarce or tight. */
    private static final int SCARCE_RECEIVE_BYTES_MAX = 16 * 1024;
    /** Limit of the size of a receive buffer in bytes while memory is full. */
    private static final int FULL_RECEIVE_BYTES_MAX = 4 * 1024;
    /** Minimum interval between two attempts to free memory for a new fetch by closing slow clients. */
    private static final long CLOSE_SLOW_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /**
     * Limit of bytes received in one event loop iteration. After that, each connection is read only once, until all
     * ready sockets were served. One connection may be read 16 times in a row; a hundred such connections would delay
     * the other connections by 50 ms.
     */
    static final int ITERATION_BYTES = 1 << 20;

    private final InFlightMemory shared;
    private final LongSupplier nanoTime;
    private final Executor afterIo;
    private long receivedBytes;
    private long iterationBytes;
    /** True if this iteration has received {@link #ITERATION_BYTES}. */
    private boolean iterationUsedUp;
    /** Time when slow clients were last closed for a new fetch. */
    private long closedSlowNanos;
    /** True once slow clients were closed for a new fetch. */
    private boolean hasClosedSlow;

    private Runnable onMemoryFull = () -> {};

    /**
     * @param nanoTime the clock, as {@link System#nanoTime}
     * @param afterIo runs a task on the event loop after all sockets that are ready now
     */
    public LoopMemory(InFlightMemory shared, LongSupplier nanoTime, Executor afterIo) {
        this.shared = shared;
        this.nanoTime = nanoTime;
        this.afterIo = afterIo;
    }

    /** Returns a view of a budget without limit. */
    public static LoopMemory unlimited() {
        return new LoopMemory(InFlightMemory.unlimited(), () -> 0, Runnable::run);
    }

    /** Sets the task that closes slow clients when a fetch finds no memory. Call before the first request. */
    public void onMemoryFull(Runnable closesSlowClients) {
        onMemoryFull = closesSlowClients;
    }

    /** Counts the size of a new receive buffer, before it is filled. */
    public void countReceived(int bytes) {
        receivedBytes += bytes;
        iterationBytes += bytes;
        if (iterationBytes >= ITERATION_BYTES && !iterationUsedUp) {
            iterationUsedUp = true;
            afterIo.execute(this::nextIteration);
        }
        if (receivedBytes >= shared.batchBytes()) {
            measure();
        }
    }

    private void nextIteration() {
        iterationBytes = 0;
        iterationUsedUp = false;
    }

    /** Measures the used bytes. */
    public void measure() {
        receivedBytes = 0;
        shared.measure();
    }

    /** Used bytes, including those that this loop received since the last measurement. */
    long usedBytes() {
        return shared.usedBytes() + receivedBytes;
    }

    InFlightMemory shared() {
        return shared;
    }

    MemoryLevel level() {
        return shared.level(usedBytes());
    }

    /** The largest window of one response at present. */
    public int windowBytes(int configuredBytes) {
        return InFlightMemory.windowBytes(usedBytes(), shared.budgetBytes(), configuredBytes);
    }

    /** Returns the size of the next receive buffer, for a connection that would use {@code requestedBytes} bytes. */
    int receiveBytes(int requestedBytes) {
        return switch (level()) {
            case PLENTY -> requestedBytes;
            case SCARCE, TIGHT -> Math.min(requestedBytes, SCARCE_RECEIVE_BYTES_MAX);
            case FULL -> Math.min(requestedBytes, FULL_RECEIVE_BYTES_MAX);
        };
    }

    /** Returns true if a connection may be read several times before the other connections. */
    boolean readsInARow() {
        return !iterationUsedUp && level() == MemoryLevel.PLENTY;
    }

    /** Returns true if a new fetch may begin. If there is no memory, closes slow clients first. */
    public boolean admitsFetch() {
        if (level() != MemoryLevel.FULL) {
            return true;
        }
        measure();
        if (level() != MemoryLevel.FULL) {
            return true;
        }
        long now = nanoTime.getAsLong();
        if (!hasClosedSlow || now - closedSlowNanos >= CLOSE_SLOW_INTERVAL_NANOS) {
            hasClosedSlow = true;
            closedSlowNanos = now;
            onMemoryFull.run();
            measure();
        }
        return level() != MemoryLevel.FULL;
    }
}
