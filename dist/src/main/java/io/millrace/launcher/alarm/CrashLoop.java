package io.millrace.launcher.alarm;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * Detects a crash loop: {@value #DEATHS} workers have died within five minutes. The crash loop ends when no worker has
 * died for five minutes. The caller supplies times in nanoseconds of a monotonic clock. Not thread-safe.
 */
final class CrashLoop {
    /** Number of deaths within {@link #WINDOW_NANOS} that make a crash loop. */
    static final int DEATHS = 3;

    static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(5);

    private final Deque<Long> deaths = new ArrayDeque<>();
    /** Number of deaths at the last update; -1 before the first. */
    private long counted = -1;

    private boolean isLoop;

    /**
     * Updates the detection with the number of workers that have died since the start of the launcher. The first call
     * only records this number, from which later calls count.
     *
     * @return number of deaths within the last five minutes while a crash loop lasts; 0 without a crash loop
     */
    int update(long restarts, long nowNanos) {
        // Adds at most 100 deaths at once. More would not change the detection, and would need memory.
        for (long i = counted < 0 ? restarts : Math.max(counted, restarts - 100); i < restarts; i++) {
            deaths.add(nowNanos);
        }
        counted = restarts;
        while (!deaths.isEmpty() && nowNanos - deaths.element() >= WINDOW_NANOS) {
            deaths.remove();
        }
        isLoop = deaths.size() >= DEATHS || (isLoop && !deaths.isEmpty());
        return isLoop ? deaths.size() : 0;
    }
}
