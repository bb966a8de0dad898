package io.millrace.store.engine;

import io.millrace.store.io.ThreadTimes;

/**
 * The pace at which {@link HotSet} loads objects: a limit of bytes and a limit of CPU time, both renewed in each tick.
 * Bytes alone are no limit for small objects: a thread that loads objects of 500 bytes at 64 MiB/s uses a whole core.
 * Time for which a task waited for a processor counts too, so that loading gives way to requests on a busy machine.
 *
 * <p>Not thread-safe; the owner hands it over between the housekeeping thread and one loading task.
 */
final class LoadPace {
    /** Share of the processors that loading may use, and at most one of them. */
    private static final double SHARE_OF_PROCESSORS = 0.25;

    /** Number of ticks for which unused bytes and CPU time are accumulated. */
    private static final int SAVED_TICKS = 12;

    /**
     * Factor for the time for which a task waited for a processor. With a share of a quarter, a task that waits as long
     * as it runs then uses a sixteenth of a processor.
     */
    private static final int WAIT_FACTOR = 3;

    private final long ticksPerSecond;
    private final long cpuNanosPerTick;
    private long bytes;
    private long cpuNanos;

    /**
     * @param tickNanos time between two calls of {@link #tick}
     * @param processors number of processors of the machine
     */
    LoadPace(long tickNanos, int processors) {
        ticksPerSecond = 1_000_000_000 / tickNanos;
        cpuNanosPerTick = (long) (tickNanos * Math.min(1, processors * SHARE_OF_PROCESSORS));
    }

    /** Adds the allowance of one tick. */
    void tick(long bytesPerSecond) {
        long bytesPerTick = bytesPerSecond / ticksPerSecond + 1;
        bytes = Math.min(bytes + bytesPerTick, bytesPerTick * SAVED_TICKS);
        cpuNanos = Math.min(cpuNanos + cpuNanosPerTick, cpuNanosPerTick * SAVED_TICKS);
    }

    /** Whether bytes may be read now. */
    boolean allowsBytes() {
        return bytes > 0;
    }

    /** Whether a task may begin now. */
    boolean allowsTask() {
        return bytes > 0 && cpuNanos > 0;
    }

    /** Subtracts bytes that were read. An overrun delays the next task. */
    void usedBytes(long read) {
        bytes -= read;
    }

    /** Subtracts the times of a task. An overrun delays the next task. */
    void used(ThreadTimes times) {
        cpuNanos -= times.cpuNanos() + WAIT_FACTOR * times.waitNanos();
    }
}
