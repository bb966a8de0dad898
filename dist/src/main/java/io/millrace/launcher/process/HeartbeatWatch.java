package io.millrace.launcher.process;

/**
 * Detects a hung worker by the time of its last heartbeat. If the check itself is late, the launcher was suspended (a
 * paused virtual machine, a sleeping laptop); the worker then gets a complete timeout again.
 *
 * <p>Not thread-safe. The caller supplies the time, in nanoseconds of one monotonic clock.
 */
public final class HeartbeatWatch {
    private final long timeoutNanos;
    private long lastBeatNanos;
    private long lastCheckNanos;

    /** Creates a watch; {@code nowNanos} counts as the first heartbeat. */
    public HeartbeatWatch(long timeoutNanos, long nowNanos) {
        this.timeoutNanos = timeoutNanos;
        this.lastBeatNanos = nowNanos;
        this.lastCheckNanos = nowNanos;
    }

    /** The heartbeat timeout, in nanoseconds. */
    public long timeoutNanos() {
        return timeoutNanos;
    }

    /** Records a heartbeat. */
    public void beat(long nowNanos) {
        lastBeatNanos = nowNanos;
    }

    /** Returns true if the heartbeat timeout has expired. Must be called several times within the timeout. */
    public boolean isOverdue(long nowNanos) {
        if (nowNanos - lastCheckNanos > timeoutNanos / 2) {
            lastBeatNanos = nowNanos;
        }
        lastCheckNanos = nowNanos;
        return nowNanos - lastBeatNanos > timeoutNanos;
    }

    /** Nanoseconds since the last heartbeat. */
    public long silenceNanos(long nowNanos) {
        return nowNanos - lastBeatNanos;
    }
}
