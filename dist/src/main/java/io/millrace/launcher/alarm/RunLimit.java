package io.millrace.launcher.alarm;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/** Limits the starts of a command in any minute. Times are from a monotonic clock, in nanoseconds. Not thread-safe. */
final class RunLimit {
    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Deque<Long> starts = new ArrayDeque<>();

    /** Returns the time until the next start is allowed; 0 if it is allowed now. */
    long waitNanos(int startsPerMinute, long nowNanos) {
        while (!starts.isEmpty() && nowNanos - starts.element() >= MINUTE_NANOS) {
            starts.remove();
        }
        if (starts.size() < startsPerMinute) {
            return 0;
        }
        Deque<Long> kept = new ArrayDeque<>(starts);
        while (kept.size() > startsPerMinute) {
            kept.remove();
        }
        return kept.element() + MINUTE_NANOS - nowNanos;
    }

    /** Counts a start. */
    void started(long nowNanos) {
        starts.add(nowNanos);
    }
}
