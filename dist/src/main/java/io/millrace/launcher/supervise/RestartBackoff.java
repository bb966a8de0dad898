package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerProcess;
import java.util.concurrent.TimeUnit;

/**
 * Computes the delay before the next start of a worker. A worker that was ready for at least two seconds is replaced at
 * once. After any other exit the delay doubles: up to two seconds if the worker was ready, up to 30 seconds if its
 * start failed. The launcher never gives up: it keeps the listening sockets until a worker can serve.
 *
 * <p>Not thread-safe. The caller supplies times in nanoseconds of a monotonic clock.
 */
final class RestartBackoff {
    private static final long FIRST_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long LONGEST_DELAY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /**
     * Limit of the delay after the exit of a worker that was ready. Such a worker answers requests until it dies, so a
     * longer delay would only keep clients waiting.
     */
    private static final long LONGEST_DELAY_AFTER_READY_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Time in the state READY after which an exit is not a failed start. */
    private static final long HEALTHY_LIFE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final long firstDelayNanos;
    private final long longestDelayNanos;
    private final long longestDelayAfterReadyNanos;
    private final long healthyLifeNanos;
    private long nextDelayNanos;

    /**
     * @param firstDelayNanos delay after the first failure
     * @param longestDelayNanos limit of the delay after a failed start
     * @param longestDelayAfterReadyNanos limit of the delay after the exit of a worker that was ready
     * @param healthyLifeNanos a worker that exits at least this time after READY is replaced at once
     */
    RestartBackoff(
            long firstDelayNanos, long longestDelayNanos, long longestDelayAfterReadyNanos, long healthyLifeNanos) {
        this.firstDelayNanos = firstDelayNanos;
        this.longestDelayNanos = longestDelayNanos;
        this.longestDelayAfterReadyNanos = longestDelayAfterReadyNanos;
        this.healthyLifeNanos = healthyLifeNanos;
        this.nextDelayNanos = firstDelayNanos;
    }

    static RestartBackoff ofWorkers() {
        return new RestartBackoff(
                FIRST_DELAY_NANOS, LONGEST_DELAY_NANOS, LONGEST_DELAY_AFTER_READY_NANOS, HEALTHY_LIFE_NANOS);
    }

    /**
     * Returns true if an exited worker was ready for so long that its start did not fail.
     */
    static boolean wasHealthy(WorkerProcess worker, long nowNanos) {
        return worker.ready() != null && nowNanos - worker.readyNanos() >= HEALTHY_LIFE_NANOS;
    }

    /** Returns the delay after the exit of a worker at {@code nowNanos}. */
    long after(WorkerProcess worker, long nowNanos) {
        return worker.ready() == null ? afterFailedStart() : afterDeath(worker.readyNanos(), nowNanos);
    }

    /** Returns the delay after the exit of a worker that was not ready yet. */
    long afterFailedStart() {
        return next(longestDelayNanos);
    }

    private long next(long longestNanos) {
        long delayNanos = Math.min(longestNanos, nextDelayNanos);
        nextDelayNanos = Math.min(longestNanos, delayNanos * 2);
        return delayNanos;
    }

    /**
     * Returns the delay after the exit of a worker that was ready. It became ready at {@code readyNanos} and exited at
     * {@code nowNanos}.
     */
    long afterDeath(long readyNanos, long nowNanos) {
        if (nowNanos - readyNanos < healthyLifeNanos) {
            return next(longestDelayAfterReadyNanos);
        }
        nextDelayNanos = firstDelayNanos;
        return 0;
    }
}
