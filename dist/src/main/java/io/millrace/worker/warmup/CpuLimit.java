package io.millrace.worker.warmup;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The limiter of this process's CPU time during a warm-up. It computes pauses for the client that sends requests. Not
 * thread-safe.
 *
 * <p>The CPU time of all threads counts, including compiler threads.
 */
final class CpuLimit {
    /** Limit of the unused CPU time that may be used later, in nanoseconds. */
    private static final long CREDIT_NANOS = 50_000_000;

    private final double cores;
    private final LongSupplier clock;
    private final LongSupplier processCpu;
    private long lastNanos;
    private long lastUsedNanos;

    /** CPU time that may be used now, in nanoseconds; negative if too much was used. */
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
        lastNanos = clock.getAsLong();
        lastUsedNanos = processCpu.getAsLong();
    }

    private static long ofThisProcess() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .orElse(Duration.ZERO)
                .toNanos();
    }

    /** Returns the pause before the next request, in nanoseconds; 0 if CPU time is available. */
    long pauseNanos() {
        if (Double.isInfinite(cores)) {
            return 0;
        }
        long now = clock.getAsLong();
        long used = processCpu.getAsLong();
        allowedNanos = Math.min(CREDIT_NANOS, allowedNanos + (now - lastNanos) * cores - (used - lastUsedNanos));
        lastNanos = now;
        lastUsedNanos = used;
        return allowedNanos >= 0 ? 0 : (long) (-allowedNanos / cores);
    }
}
