package io.millrace.proxy.memory;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * One event loop's view of the budget for bytes in flight. Counts what the loop receives in a plain field and measures the
 * shared figure once in a batch, so that a request writes nothing that other loops read.
 *
 * <p>Confined to its event loop.
 */
public final class LoopMemory {
    /** Largest receive buffer while memory is scarce. */
    private static final int SCARCE_RECEIVE_BYTES_MAX = 16 * 1024;
    /** Largest receive buffer while memory is used up. */
    private static final int FULL_RECEIVE_BYTES_MAX = 4 * 1024;
    /** Time between two attempts to make room for a new fetch by closing slow clients. */
    private static final long RELIEF_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /**
     * Bytes received after which each connection is read once until the event loop has served all sockets that are ready.
     * One connection alone may be read 16 times in a row; a hundred that do so at once would delay all others by 50 ms.
     */
    static final int ITERATION_BYTES = 1 << 20;

    private final InFlightMemory shared;
    private final LongSupplier nanoTime;
    private final Executor afterIo;
    private long receivedBytes;
    private long iterationBytes;
    private boolean iterationUsedUp;
    private long relievedNanos;
    private boolean relieved;
    private Runnable relief = () -> {};

    /**
     * @param nanoTime the clock, as {@link System#nanoTime}
     * @param afterIo runs a task on the event loop after the sockets that are ready now, as the event loop itself does
     */
    public LoopMemory(InFlightMemory shared, LongSupplier nanoTime, Executor afterIo) {
        this.shared = shared;
        this.nanoTime = nanoTime;
        this.afterIo = afterIo;
    }

    /** A view of a budget that is never reached. */
    public static LoopMemory unlimited() {
        return new LoopMemory(InFlightMemory.unlimited(), () -> 0, Runnable::run);
    }

    /** Sets what closes slow clients at once when a fetch finds no memory. Before the first request. */
    public void relief(Runnable closesSlowClients) {
        relief = closesSlowClients;
    }

    /** Counts bytes that were received, or copied for a client. */
    public void took(int bytes) {
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

    /** Measures the bytes in use. */
    public void measure() {
        receivedBytes = 0;
        shared.measure();
    }

    /** Bytes in use, what this loop received since the last measurement included. */
    long usedBytes() {
        return shared.usedBytes() + receivedBytes;
    }

    InFlightMemory shared() {
        return shared;
    }

    MemoryLevel level() {
        return shared.level(usedBytes());
    }

    /** The largest window of one response now. */
    public int windowBytes(int configuredBytes) {
        return InFlightMemory.windowBytes(usedBytes(), shared.budgetBytes(), configuredBytes);
    }

    /** The size of the next receive buffer, where a connection would use {@code wanted} bytes. */
    int receiveBytes(int wanted) {
        return switch (level()) {
            case PLENTY -> wanted;
            case SCARCE, TIGHT -> Math.min(wanted, SCARCE_RECEIVE_BYTES_MAX);
            case FULL -> Math.min(wanted, FULL_RECEIVE_BYTES_MAX);
        };
    }

    /** Whether a connection may be read several times before the other connections. */
    boolean readsInARow() {
        return !iterationUsedUp && level() == MemoryLevel.PLENTY;
    }

    /** Whether a new fetch may begin. Closes slow clients first where there is no memory. */
    public boolean admitsFetch() {
        if (level() != MemoryLevel.FULL) {
            return true;
        }
        measure();
        if (level() != MemoryLevel.FULL) {
            return true;
        }
        long now = nanoTime.getAsLong();
        if (!relieved || now - relievedNanos >= RELIEF_NANOS) {
            relieved = true;
            relievedNanos = now;
            relief.run();
            measure();
        }
        return level() != MemoryLevel.FULL;
    }
}
