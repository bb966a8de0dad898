package io.millrace.store.engine;

import io.millrace.store.io.ThreadTimes;

/**
 * Limits the bytes and the processor time that {@link HotSet} uses to load objects.
 *
 * <p>Each tick adds an allowance of both. A limit of bytes alone is not enough for small objects: a thread that loads
 * objects of 500 bytes at 64 MiB/s uses a whole core. Time for which a task waits for a processor is charged too, so
 * that loading slows down on a machine that is busy with requests.
 *
 * <p>Not thread-safe: the housekeeping thread and the loading task use it in turn, never at the same time.
 */
final class LoadPace {
    /** Fraction of all processors that loading may use. The product is at most one processor. */
    static final double SHARE_OF_PROCESSORS = 0.25;
    /**
     * The fraction for objects that were requested only once, because clients may never request them again. The product
     * is at most a fifth of a processor.
     */
    static final double SHARE_FOR_REQUESTED_ONCE = 0.05;

    /** Number of ticks for which unused bytes and CPU time are accumulated. */
    private static final int SAVED_TICKS = 12;

    /**
     * Weight of the time that a task waited for a processor, relative to its processor time. Example: with an allowance
     * of a quarter of a processor, a task that waits as long as it runs uses a sixteenth.
     */
    private static final int WAIT_FACTOR = 3;

    /** Limit of the delay after a task that waited long for a processor. */
    private static final long DELAY_TICKS_MAX = 100;

    private final long ticksPerSecond;
    private final long tickNanos;
    private final int processors;
    /** Processor time that the latest tick added. */
    private long cpuNanosPerTick;
    /** Bytes that may still be read; negative after an overrun. */
    private long bytes;
    /** Processor time that may still be used; negative after an overrun. */
    private long cpuNanos;

    /**
     * @param tickNanos time between two calls of {@link #tick}
     * @param processors number of processors of the machine
     */
    LoadPace(long tickNanos, int processors) {
        ticksPerSecond = 1_000_000_000 / tickNanos;
        this.tickNanos = tickNanos;
        this.processors = processors;
        cpuNanosPerTick = cpuNanosPerTick(SHARE_OF_PROCESSORS);
    }

    /**
     * Adds the allowance of one tick.
     *
     * @param share fraction of all processors
     */
    void tick(long bytesPerSecond, double share) {
        cpuNanosPerTick = cpuNanosPerTick(share);
        long bytesPerTick = bytesPerSecond / ticksPerSecond + 1;
        bytes = Math.min(bytes + bytesPerTick, bytesPerTick * SAVED_TICKS);
        cpuNanos = Math.min(cpuNanos + cpuNanosPerTick, cpuNanosPerTick * SAVED_TICKS);
    }

    private long cpuNanosPerTick(double share) {
        return (long) (tickNanos * Math.min(1, processors * SHARE_OF_PROCESSORS) * share / SHARE_OF_PROCESSORS);
    }

    /** Returns true if bytes may be read now. */
    boolean allowsBytes() {
        return bytes > 0;
    }

    /** Returns true if a task may begin now. */
    boolean allowsTask() {
        return bytes > 0 && cpuNanos > 0;
    }

    /** Subtracts bytes that were read. An overrun delays the next task. */
    void usedBytes(long read) {
        bytes -= read;
    }

    /**
     * Subtracts the processor time and the weighted waiting time of a task. An overrun delays the next task, by at most
     * {@value #DELAY_TICKS_MAX} ticks.
     */
    void used(ThreadTimes times) {
        long left = cpuNanos - times.cpuNanos() - WAIT_FACTOR * times.waitNanos();
        cpuNanos = Math.max(left, -DELAY_TICKS_MAX * cpuNanosPerTick);
    }
}
