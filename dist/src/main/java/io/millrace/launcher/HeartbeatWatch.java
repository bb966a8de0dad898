package io.millrace.launcher;

/**
 * Tells a hung worker from a live one by the time of its last beat. When the check itself comes late, it was the launcher
 * that stood still (a paused virtual machine, a laptop asleep), and the worker gets a whole timeout anew.
 *
 * <p>Confined to one thread; the time comes from the caller, in nanoseconds of one monotonic clock.
 */
final class HeartbeatWatch {
    private final long timeoutNanos;
    private long lastBeatNanos;
    private long lastCheckNanos;

    HeartbeatWatch(long timeoutNanos, long nowNanos) {
        this.timeoutNanos = timeoutNanos;
        this.lastBeatNanos = nowNanos;
        this.lastCheckNanos = nowNanos;
    }

    long timeoutNanos() {
        return timeoutNanos;
    }

    void beat(long nowNanos) {
        lastBeatNanos = nowNanos;
    }

    /** Whether the worker missed its time. To be asked several times within the timeout. */
    boolean isOverdue(long nowNanos) {
        if (nowNanos - lastCheckNanos > timeoutNanos / 2) {
            lastBeatNanos = nowNanos;
        }
        lastCheckNanos = nowNanos;
        return nowNanos - lastBeatNanos > timeoutNanos;
    }

    long silenceNanos(long nowNanos) {
        return nowNanos - lastBeatNanos;
    }
}
