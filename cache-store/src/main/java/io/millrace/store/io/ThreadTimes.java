package io.millrace.store.io;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Two times of one thread since its start, in nanoseconds.
 *
 * @param cpuNanos time for which the thread ran on a processor
 * @param waitNanos time for which the thread was ready to run and waited for a processor; 0 if the kernel does not
 *     report it
 */
public record ThreadTimes(long cpuNanos, long waitNanos) {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /**
     * Linux file with "cpuNanos waitNanos timeSlices" of the reading thread (see Documentation/scheduler/sched-stats).
     */
    private static final Path SCHEDULER_STATISTICS = Path.of("/proc/thread-self/schedstat");

    /** Returns the times of the calling thread. */
    public static ThreadTimes ofCallingThread() {
        return ofCallingThread(SCHEDULER_STATISTICS);
    }

    /**
     * Like {@link #ofCallingThread()}, with the waiting time from this file. The CPU time in the file is not used,
     * because the kernel updates it only at timer ticks.
     */
    static ThreadTimes ofCallingThread(Path statistics) {
        long cpuNanos =
                THREADS.isCurrentThreadCpuTimeSupported() ? THREADS.getCurrentThreadCpuTime() : System.nanoTime();
        return new ThreadTimes(cpuNanos, waitNanos(statistics));
    }

    private static long waitNanos(Path statistics) {
        try {
            return Long.parseLong(
                    Files.readString(statistics, StandardCharsets.ISO_8859_1).split("\\s", -1)[1]);
        } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
            // The system is not Linux, or the kernel has no such statistics.
            return 0;
        }
    }

    /** Returns the differences between these times and {@code earlier}. */
    public ThreadTimes since(ThreadTimes earlier) {
        return new ThreadTimes(cpuNanos - earlier.cpuNanos, waitNanos - earlier.waitNanos);
    }
}
