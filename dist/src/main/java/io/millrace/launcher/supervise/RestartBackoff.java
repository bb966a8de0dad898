package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerProcess;
import java.util.concurrent.TimeUnit;

/**
 * The delay before the next start of a worker. A worker that was ready for some time is replaced at once. After each
 * other exit the delay doubles, up to a maximum. Restarts never end, because the launcher must keep the listening
 * sockets for the next working configuration.
 *
 * <p>Not thread-safe. The caller supplies the time, in nanoseconds of one monotonic clock.
 */
final class RestartBackoff {
    private static final long FIRST_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long LONGEST_DELAY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Time in the state READY after which an exit is not attributed to the start. */
    private static final long HEALTHY_LIFE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final long firstDelayNanos;
    private final long longestDelayNanos;
    private final long healthyLifeNanos;
    private long nextDelayNanos;

    /**
     * @param firstDelayNanos delay after the first failure
     * @param longestDelayNanos limit of the delay
     * @param healthyLifeNanos minimum time after READY of a worker that is replaced at once
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

    /**
     * Returns true if {@code worker}, which exited at {@code nowNanos}, was ready for so long that its start is not the
     * cause.
     */
    static boolean livedInHealth(WorkerProcess worker, long nowNanos) {
        return worker.ready() != null && nowNanos - worker.readyNanos() >= HEALTHY_LIFE_NANOS;
    }

    /** Returns the delay before a successor of {@code worker}, which exited at {@code nowNanos}. */
    long after(WorkerProcess worker, long nowNanos) {
        return worker.ready() == null ? afterFailedStart() : afterDeath(worker.readyNanos(), nowNanos);
    }

    /** Returns the delay before a successor of a worker that exited before it was ready. */
    long afterFailedStart() {
        long delayNanos = nextDelayNanos;
        nextDelayNanos = Math.min(longestDelayNanos, nextDelayNanos * 2);
        return delayNanos;
    }

    /**
     * Returns the delay before a successor of a worker that was READY at {@code readyNanos} and exited at
     * {@code nowNanos}.
     */
    long afterDeath(long readyNanos, long nowNanos) {
        if (nowNanos - readyNanos < healthyLifeNanos) {
            return afterFailedStart();
        }
        nextDelayNanos = firstDelayNanos;
        return 0;
    }
}
