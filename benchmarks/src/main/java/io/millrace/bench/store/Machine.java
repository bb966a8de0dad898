package io.millrace.bench.store;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Helper methods of the workloads. They read values of the operating system about this process and a directory, and
 * print results. Stateless.
 */
public final class Machine {
    private Machine() {}

    /** Returns a value of /proc/self/status in KiB. Returns -1 if the file has no line with this name. */
    public static long statusKib(String name) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(name + ":")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return -1;
    }

    /** Returns the CPU time of this process so far in seconds, including kernel time. */
    public static double cpuSeconds() {
        return ProcessHandle.current()
                        .info()
                        .totalCpuDuration()
                        .orElse(Duration.ZERO)
                        .toNanos()
                / 1e9;
    }

    /**
     * Returns the CPU time of the whole machine so far in seconds, including kernel threads and interrupts. Its
     * resolution is a hundredth of a second.
     */
    static double machineCpuSeconds() throws IOException {
        String[] times = Files.readAllLines(Path.of("/proc/stat")).get(0).split("\\s+", -1);
        long ticks = 0;
        // cpu user nice system idle iowait irq softirq steal ...
        for (int i : new int[] {1, 2, 3, 6, 7}) {
            ticks += Long.parseLong(times[i]);
        }
        return ticks / 100.0;
    }

    /** Returns the number of open file descriptors of this process. */
    static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    /**
     * Returns the total size in bytes of the files below a directory. Files may be created and deleted meanwhile; the
     * result contains the files that exist when they are visited.
     */
    public static long bytesBelow(Path directory) throws IOException {
        long[] bytes = new long[1];
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                bytes[0] += attributes.isRegularFile() ? attributes.size() : 0;
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (failure instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw failure;
            }
        });
        return bytes[0];
    }

    /** Deletes a directory and all files below it. */
    public static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> found = Files.walk(directory)) {
            for (Path path : found.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    /**
     * Measures the write throughput of {@code dd bs=1M conv=fdatasync} in bytes per second. It writes a file of this
     * many MiB in the directory.
     */
    static double ddBytesPerSecond(Path directory, long mebibytes) throws IOException, InterruptedException {
        Path file = directory.resolve("dd");
        long start = System.nanoTime();
        Process dd = new ProcessBuilder(
                        List.of("dd", "if=/dev/zero", "of=" + file, "bs=1M", "count=" + mebibytes, "conv=fdatasync"))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        int code = dd.waitFor();
        double seconds = (System.nanoTime() - start) / 1e9;
        Files.deleteIfExists(file);
        if (code != 0) {
            throw new IOException("dd ended with " + code);
        }
        return mebibytes * (double) (1 << 20) / seconds;
    }

    /** Prints a line. */
    public static void say(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
