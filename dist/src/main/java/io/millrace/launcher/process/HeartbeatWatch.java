package io.millrace.launcher.process;

/**
 * Tells a hung worker from a live one by the time of its last beat. When the check itself comes late, it was the launcher
 * that stood still (a paused virtual machine, a laptop asleep), and the worker gets a whole timeout again.
 *
 * <p>Confined to one thread; the time comes from the caller, in nanoseconds of one monotonic clock.
 */
public final class HeartbeatWatch {
    private final long timeoutNanos;
    private long lastBeatNanos;
    private long lastCheckNanos;

    /** A watch that counts {@code nowNanos} as the first beat. */
    public HeartbeatWatch(long timeoutNanos, long nowNanos) {
        this.timeoutNanos = timeoutNanos;
        this.lastBeatNanos = nowNanos;
        this.lastCheckNanos = nowNanos;
    }

    /** Longest silence of a live worker, in nanoseconds. */
    public long timeoutNanos() {
        return timeoutNanos;
    }

    /** Records a beat. */
    public void beat(long nowNanos) {
        lastBeatNanos = nowNanos;
    }

    /** Whether the worker missed its time. To be asked several times within the timeout. */
    public boolean isOverdue(long nowNanos) {
        if (nowNanos - lastCheckNanos > timeoutNanos / 2) {
            lastBeatNanos = nowNanos;
        }
        lastCheckNanos = nowNanos;
        return nowNanos - lastBeatNanos > timeoutNanos;
    }

    /** Nanoseconds since the last beat. */
    public long silenceNanos(long nowNanos) {
        return nowNanos - lastBeatNanos;
    }
}
