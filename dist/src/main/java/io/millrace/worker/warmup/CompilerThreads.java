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
 * The threads of the JIT compilers as the kernel knows them (proc(5)). Confined to one thread.
 *
 * <p>A JVM ends compiler threads that have nothing to do, so the CPU time of those that are gone is remembered.
 */
final class CompilerThreads {
    /** Clock ticks, of which Linux shows programs 100 a second on every processor that Millrace runs on. */
    private static final long MILLIS_PER_TICK = 10;

    /** Such as {@code C2 CompilerThre}, of which the kernel keeps 15 characters. */
    private static final Pattern NAME = Pattern.compile("\\(C[12] Compiler");

    /** Fields behind the name in {@code stat}: state is the first of them, utime and stime follow here. */
    private static final int UTIME = 11;

    private static final int STIME = 12;

    private final Path tasks;
    private final Map<String, Long> ticksByThread = new HashMap<>();

    CompilerThreads(Path tasks) {
        this.tasks = tasks;
    }

    static CompilerThreads ofThisProcess() {
        return new CompilerThreads(Path.of("/proc/self/task"));
    }

    /** Milliseconds of CPU time that they have used; below zero where that is not known. */
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

    /** Empty for a thread that has ended. */
    private static String stat(Path thread) {
        try {
            return Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
