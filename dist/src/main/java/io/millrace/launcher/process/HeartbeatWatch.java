package io.millrace.launcher.process;

/**
 * The detector of a hung worker, based on the time of its last heartbeat. If the check itself is late, the launcher was
 * suspended, for example in a paused virtual machine. The timeout of the worker then starts again.
 *
 * <p>Not thread-safe. The caller supplies times in nanoseconds of a monotonic clock.
 */
public final class HeartbeatWatch {
    private final long timeoutNanos;
    private long lastBeatNanos;
    private long lastCheckNanos;

    /** Creates a watch with a first heartbeat at {@code nowNanos}. */
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

    /** Returns true if the heartbeat timeout has expired. Must be called several times within each timeout. */
    public boolean checkOverdue(long nowNanos) {
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
