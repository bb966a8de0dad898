package io.millrace.worker.warmup;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * A limit for the CPU time of this process: says how long its load has to pause. Confined to one thread.
 *
 * <p>All threads count, the compilers' too. A process without a limit of CPU time never pauses.
 */
final class CpuLimit {
    /** Unused CPU time that may be used later. */
    private static final long CREDIT_NANOS = 50_000_000;

    private final double cores;
    private final LongSupplier clock;
    private final LongSupplier processCpu;
    private long atNanos;
    private long usedNanos;

    /** CPU time that may be used at once; below zero what was used too early. */
    private double allowedNanos;

    CpuLimit(double cores) {
        this(cores, System::nanoTime, CpuLimit::ofThisProcess);
    }

    /**
     * @param clock time in nanoseconds
     * @param processCpu CPU time of the process in nanoseconds
     */
    CpuLimit(double cores, LongSupplier clock, LongSupplier processCpu) {
        this.cores = cores;
        this.clock = clock;
        this.processCpu = processCpu;
        atNanos = clock.getAsLong();
        usedNanos = processCpu.getAsLong();
    }

    private static long ofThisProcess() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .orElse(Duration.ZERO)
                .toNanos();
    }

    /** Nanoseconds for which nothing may be asked of this process; 0 when there is CPU time left. */
    long pauseNanos() {
        if (Double.isInfinite(cores)) {
            return 0;
        }
        long now = clock.getAsLong();
        long used = processCpu.getAsLong();
        allowedNanos = Math.min(CREDIT_NANOS, allowedNanos + (now - atNanos) * cores - (used - usedNanos));
        atNanos = now;
        usedNanos = used;
        return allowedNanos >= 0 ? 0 : (long) (-allowedNanos / cores);
    }
}
