package io.millrace.proxy.memory;

import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The budget for bytes in flight of one proxy, shared by its event loops.
 *
 * <p>The bytes in use are measured at the buffer pool of the connections, so that no buffer is outside the budget. An event
 * loop measures at each tick and after each {@link #batchBytes} that it received; between two measurements it adds what it
 * received itself (see {@link LoopMemory}).
 *
 * <p>Thread-safe.
 */
public final class InFlightMemory {
    /** Smallest window of one response: less would make each piece a system call of its own. */
    static final int WINDOW_BYTES_MIN = 64 * 1024;
    /** The free bytes are this many times the largest window. See {@link #windowBytes}. */
    static final int FREE_BYTES_PER_WINDOW_BYTE = 256;

    private static final long BUDGET_BYTES_MIN = 4L << 20;
    private static final long BATCH_BYTES_MIN = 256L << 10;
    private static final long BATCH_BYTES_MAX = 4L << 20;
    private static final int BATCHES_PER_BUDGET = 64;

    /** What is measured. All are called by any event loop. */
    public interface Gauges {
        /** Bytes of buffers that are in use. */
        long pinnedBytes();

        /** Bytes of the chunks that the pool holds, whether buffers use them or not. */
        long chunkBytes();

        /** Whether bodies on their way from the store to clients have nearly all that the store may use for them. */
        boolean isStoreTight();

        /** Whether the kernel has nearly all the memory that it may use for TCP. */
        default boolean isKernelTight() {
            return false;
        }
    }

    private final Gauges gauges;
    private final LongSupplier configuredBytes;
    private final long chunkBytesMax;
    private final ReentrantLock measuring = new ReentrantLock();
    private final LongAdder allocationFailures = new LongAdder();
    private volatile long usedBytes;
    private volatile boolean tightBesides;
    private volatile boolean exhausted;

    /**
     * @param configuredBytes {@code limits.memory_in_flight}: 0 for three quarters of {@code chunkBytesMax}
     * @param chunkBytesMax the most direct memory that the connections' pool can get
     */
    public InFlightMemory(Gauges gauges, LongSupplier configuredBytes, long chunkBytesMax) {
        this.gauges = gauges;
        this.configuredBytes = configuredBytes;
        this.chunkBytesMax = chunkBytesMax;
    }

    /** A budget that is never reached, for parts that are used without a proxy. */
    public static InFlightMemory unlimited() {
        return new InFlightMemory(
                new Gauges() {
                    @Override
                    public long pinnedBytes() {
                        return 0;
                    }

                    @Override
                    public long chunkBytes() {
                        return 0;
                    }

                    @Override
                    public boolean isStoreTight() {
                        return false;
                    }
                },
                () -> 0,
                Long.MAX_VALUE / 4);
    }

    /** The budget by default: three quarters of what the pool can get, since chunks are never filled to the last byte. */
    public static long defaultBytes(long chunkBytesMax) {
        return Math.max(BUDGET_BYTES_MIN, chunkBytesMax / 4 * 3);
    }

    /** The most bytes that may be in flight; what is configured, but no more than the default, which the JVM has memory for. */
    public long budgetBytes() {
        long configured = configuredBytes.getAsLong();
        long most = defaultBytes(chunkBytesMax);
        return configured == 0 ? most : Math.min(configured, most);
    }

    /** Bytes that an event loop may receive before it measures again. */
    long batchBytes() {
        return Math.max(BATCH_BYTES_MIN, Math.min(BATCH_BYTES_MAX, budgetBytes() / BATCHES_PER_BUDGET));
    }

    /** Measures the bytes in use, unless another thread does that right now. */
    public void measure() {
        if (!measuring.tryLock()) {
            return;
        }
        try {
            usedBytes = gauges.pinnedBytes();
            exhausted = gauges.chunkBytes() > chunkBytesMax / 16 * 15 && usedBytes > relievedBytes();
        } finally {
            measuring.unlock();
        }
    }

    /** Asks the store and the kernel, too; once a tick. */
    void measureBesides() {
        tightBesides = gauges.isStoreTight() || gauges.isKernelTight();
    }

    /** Bytes in use as measured last. */
    public long usedBytes() {
        return usedBytes;
    }

    /** The level with this many bytes in use. */
    MemoryLevel level(long used) {
        if (exhausted) {
            return MemoryLevel.FULL;
        }
        MemoryLevel level = MemoryLevel.of(used, budgetBytes());
        return tightBesides && !level.isAtLeast(MemoryLevel.TIGHT) ? MemoryLevel.TIGHT : level;
    }

    /** The use that closing slow clients aims at. */
    long relievedBytes() {
        return MemoryLevel.relievedBytes(budgetBytes());
    }

    /** An allocation failed although the budget had room: the level is {@link MemoryLevel#FULL} until the next measurement. */
    public void allocationFailed() {
        exhausted = true;
        allocationFailures.increment();
    }

    /** Allocations that failed since the start. */
    public long allocationFailures() {
        return allocationFailures.sum();
    }

    /**
     * The largest window of one response. It is a fixed fraction of the free bytes: so the windows of any number of responses
     * keep some bytes free, and each has the same share (the dynamic thresholds of Choudhury and Hahne, 1998).
     *
     * @param used bytes in use
     * @param budget the most bytes that may be in use
     * @param most the configured window
     */
    static int windowBytes(long used, long budget, int most) {
        long share = Math.max(0, budget - used) / FREE_BYTES_PER_WINDOW_BYTE;
        return (int) Math.min(most, Math.max(WINDOW_BYTES_MIN, share));
    }
}
