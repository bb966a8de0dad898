package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerProcess;
import java.util.concurrent.TimeUnit;

/**
 * How long to wait before the next worker starts. A worker that was ready and lived for a while is replaced at once; the
 * others wait, each twice as long as the one before, up to a maximum, and without end: a crash loop must not take the
 * listening sockets away from the next configuration that works.
 *
 * <p>Confined to one thread; the time comes from the caller, in nanoseconds of one monotonic clock.
 */
final class RestartBackoff {
    private static final long FIRST_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long LONGEST_DELAY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** A worker that was ready for this long did not die of its own start. */
    private static final long HEALTHY_LIFE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final long firstDelayNanos;
    private final long longestDelayNanos;
    private final long healthyLifeNanos;
    private long nextDelayNanos;

    /**
     * @param firstDelayNanos after the first unhealthy life
     * @param longestDelayNanos the delay grows no further
     * @param healthyLifeNanos a life of at least this length after READY is healthy
     */
    RestartBackoff(long firstDelayNanos, long longestDelayNanos, long healthyLifeNanos) {
        this.firstDelayNanos = firstDelayNanos;
        this.longestDelayNanos = longestDelayNanos;
        this.healthyLifeNanos = healthyLifeNanos;
        this.nextDelayNanos = firstDelayNanos;
    }

    static RestartBackoff ofWorkers() {
        return new RestartBackoff(FIRST_DELAY_NANOS, LONGEST_DELAY_NANOS, HEALTHY_LIFE_NANOS);
    }

    /** Whether {@code worker}, which dies at {@code nowNanos}, was ready for so long that its start was not the reason. */
    static boolean livedInHealth(WorkerProcess worker, long nowNanos) {
        return worker.ready() != null && nowNanos - worker.readyNanos() >= HEALTHY_LIFE_NANOS;
    }

    /** Delay before a successor of {@code worker}, which died at {@code nowNanos}. */
    long after(WorkerProcess worker, long nowNanos) {
        return worker.ready() == null ? afterFailedStart() : afterDeath(worker.readyNanos(), nowNanos);
    }

    /** Delay before a successor of a worker that died without having been ready. */
    long afterFailedStart() {
        long delayNanos = nextDelayNanos;
        nextDelayNanos = Math.min(longestDelayNanos, nextDelayNanos * 2);
        return delayNanos;
    }

    /** Delay before a successor of a worker that was READY at {@code readyNanos} and died at {@code nowNanos}. */
    long afterDeath(long readyNanos, long nowNanos) {
        if (nowNanos - readyNanos < healthyLifeNanos) {
            return afterFailedStart();
        }
        nextDelayNanos = firstDelayNanos;
        return 0;
    }
}
