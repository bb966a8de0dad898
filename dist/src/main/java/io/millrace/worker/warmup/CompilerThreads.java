package io.millrace.worker.warmup;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The meter of the CPU time of the JIT compiler threads. It reads {@code /proc}. Not thread-safe.
 *
 * <p>A JVM ends idle compiler threads. The CPU time of ended threads still counts.
 */
final class CompilerThreads {
    /** Duration of a clock tick: Linux reports 100 ticks per second on every processor that Millrace supports. */
    private static final long MILLIS_PER_TICK = 10;

    /** Matches thread names such as {@code C2 CompilerThre}; the kernel keeps 15 characters. */
    private static final Pattern NAME = Pattern.compile("\\(C[12] Compiler");

    /** Index of the user CPU time (utime) in {@code stat}, counted after the thread name. */
    private static final int UTIME = 11;

    /** Index of the system CPU time (stime). */
    private static final int STIME = 12;

    private final Path tasks;
    private final Map<String, Long> ticksByThread = new HashMap<>();

    CompilerThreads(Path tasks) {
        this.tasks = tasks;
    }

    static CompilerThreads ofThisProcess() {
        return new CompilerThreads(Path.of("/proc/self/task"));
    }

    /**
     * Returns the total CPU time of the compiler threads in milliseconds. Returns a negative number if it is unknown.
     */
    long cpuMillis() {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
            for (Path thread : threads) {
                String stat = stat(thread);
                if (NAME.matcher(stat).find()) {
                    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
                    long ticks = Long.parseLong(fields[UTIME]) + Long.parseLong(fields[STIME]);
                    ticksByThread.put(String.valueOf(thread.getFileName()), ticks);
                }
            }
        } catch (IOException | DirectoryIteratorException | NumberFormatException | IndexOutOfBoundsException e) {
            return -1;
        }
        if (ticksByThread.isEmpty()) {
            return -1;
        }
        long sum = 0;
        for (long ticks : ticksByThread.values()) {
            sum += ticks;
        }
        return sum * MILLIS_PER_TICK;
    }

    /** Returns the content of a thread's stat file; empty if the thread has ended. */
    private static String stat(Path thread) {
        try {
            return Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
