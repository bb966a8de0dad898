package io.millrace.proxy.memory;

import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The memory budget for bytes in flight of one proxy, shared by its event loops. Bytes in flight are received bytes
 * that the proxy has not passed on yet.
 *
 * <p>The used bytes are those of the connections' buffer pool, so every buffer counts. An event loop measures them at
 * each tick (periodic check), and whenever it has received {@link #batchBytes} bytes. Between two measurements the loop
 * adds its own received bytes (see {@link LoopMemory}).
 *
 * <p>Thread-safe.
 */
public final class InFlightMemory {
    /**
     * Minimum of {@link #windowBytes}. With a smaller window, every piece of a response would need its own system call.
     */
    static final int WINDOW_BYTES_MIN = 64 * 1024;
    /** Above the minimum, {@link #windowBytes} is the number of free bytes divided by this number. */
    static final int FREE_BYTES_PER_WINDOW_BYTE = 256;

    /** Minimum of the default budget. */
    private static final long BUDGET_BYTES_MIN = 4L << 20;
    /** Minimum of {@link #batchBytes}. */
    private static final long BATCH_BYTES_MIN = 256L << 10;
    /** Maximum of {@link #batchBytes}. */
    private static final long BATCH_BYTES_MAX = 4L << 20;
    /** Between the minimum and the maximum, {@link #batchBytes} is the budget divided by this number. */
    private static final int BATCHES_PER_BUDGET = 64;

    /** The measured values. Called by any event loop. */
    public interface Gauges {
        /** Bytes of buffers in use. */
        long pinnedBytes();

        /** Bytes of the chunks that the pool holds, used by buffers or not. */
        long chunkBytes();

        /**
         * Returns true if response bodies read from the store use nearly all memory that the store may use for them.
         */
        boolean isStoreTight();

        /** Returns true if the kernel uses nearly all memory that it may use for TCP. */
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
    /** True if the store or the kernel has nearly used up its own memory. */
    private volatile boolean storeOrKernelTight;
    /** True if the pool's chunks nearly reach their limit and most of the budget is in use, or an allocation failed. */
    private volatile boolean exhausted;

    /**
     * @param configuredBytes {@code limits.memory_in_flight}; 0 for three quarters of {@code chunkBytesMax}
     * @param chunkBytesMax limit of direct memory for the connections' pool
     */
    public InFlightMemory(Gauges gauges, LongSupplier configuredBytes, long chunkBytesMax) {
        this.gauges = gauges;
        this.configuredBytes = configuredBytes;
        this.chunkBytesMax = chunkBytesMax;
    }

    /** Returns a budget without limit, for components that are used without a proxy. */
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

    /**
     * Returns the default budget: three quarters of the pool's limit, because chunks are never completely full, but at
     * least 4 MiB.
     */
    public static long defaultBytes(long chunkBytesMax) {
        return Math.max(BUDGET_BYTES_MIN, chunkBytesMax / 4 * 3);
    }

    /**
     * The limit of bytes in flight. It is the configured value, but at most the default, because the JVM has no more
     * direct memory.
     */
    public long budgetBytes() {
        long configured = configuredBytes.getAsLong();
        long bytesMax = defaultBytes(chunkBytesMax);
        return configured == 0 ? bytesMax : Math.min(configured, bytesMax);
    }

    /** Number of bytes that an event loop may receive before it measures again. */
    long batchBytes() {
        return Math.max(BATCH_BYTES_MIN, Math.min(BATCH_BYTES_MAX, budgetBytes() / BATCHES_PER_BUDGET));
    }

    /** Measures the used bytes, unless another thread is measuring now. */
    public void measure() {
        if (!measuring.tryLock()) {
            return;
        }
        try {
            usedBytes = gauges.pinnedBytes();
            exhausted = gauges.chunkBytes() > chunkBytesMax / 16 * 15 && usedBytes > lowWaterBytes();
        } finally {
            measuring.unlock();
        }
    }

    /** Asks the store and the kernel whether their memory is nearly exhausted. Called once per tick. */
    void measureStoreAndKernel() {
        storeOrKernelTight = gauges.isStoreTight() || gauges.isKernelTight();
    }

    /** Used bytes at the last measurement. */
    public long usedBytes() {
        return usedBytes;
    }

    /** Returns the level for this number of used bytes. */
    MemoryLevel level(long used) {
        if (exhausted) {
            return MemoryLevel.FULL;
        }
        MemoryLevel level = MemoryLevel.of(used, budgetBytes());
        return storeOrKernelTight && !level.isAtLeast(MemoryLevel.TIGHT) ? MemoryLevel.TIGHT : level;
    }

    /** Number of used bytes at which closing slow clients stops. */
    long lowWaterBytes() {
        return MemoryLevel.lowWaterBytes(budgetBytes());
    }

    /**
     * Records a failed allocation within the budget: the level is {@link MemoryLevel#FULL} until the next measurement.
     */
    public void allocationFailed() {
        exhausted = true;
        allocationFailures.increment();
    }

    /** Number of failed allocations since the start. */
    public long allocationFailures() {
        return allocationFailures.sum();
    }

    /**
     * Returns the largest window of one response: the limit of its received bytes that wait for the client. It is a
     * fixed fraction of the free bytes, at least {@link #WINDOW_BYTES_MIN}. As long as the fraction is above this
     * minimum, the windows of any number of responses have equal size and leave some bytes free (dynamic thresholds of
     * Choudhury and Hahne, 1998).
     *
     * @param used used bytes
     * @param budget limit of used bytes
     * @param configuredMax the configured window, which is not exceeded
     */
    static int windowBytes(long used, long budget, int configuredMax) {
        long share = Math.max(0, budget - used) / FREE_BYTES_PER_WINDOW_BYTE;
        return (int) Math.min(configuredMax, Math.max(WINDOW_BYTES_MIN, share));
    }
}
