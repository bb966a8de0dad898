package io.millrace.bench.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Benchmark of write throughput for several object lengths. The time includes the final sync. The result is compared
 * with {@code dd} on the same disk in the same run.
 */
final class WriteWorkload {
    static final long[] LENGTHS = {4 * 1024, 32 * 1024, 256 * 1024, 8 << 20};
    private static final int ROUNDS = 3;
    private static final int PRODUCERS = Runtime.getRuntime().availableProcessors();
    private static final long WARM_UP_OBJECTS = 50_000;
    /** Required throughput for every object length, as a fraction of the throughput of dd. */
    private static final double DD_SHARE_MIN = 0.7;

    private WriteWorkload() {}

    static boolean run(Path directory, long gibibytes, long[] lengths) throws IOException, InterruptedException {
        Files.createDirectories(directory);
        boolean passed = true;
        Machine.say("%-10s %8s %8s %8s %10s", "length", "MB/s", "dd MB/s", "share", "CPU us/obj");
        for (long length : lengths) {
            double best = 0;
            for (int round = 0; round < ROUNDS; round++) {
                double dd = Machine.ddBytesPerSecond(directory, gibibytes << 10);
                double cpuBefore = Machine.cpuSeconds();
                double store = write(directory.resolve("store"), gibibytes << 30, length);
                Machine.say(
                        "%-10d %8.0f %8.0f %8.2f %10.2f",
                        length,
                        store / 1e6,
                        dd / 1e6,
                        store / dd,
                        (Machine.cpuSeconds() - cpuBefore) * 1e6 * length / (gibibytes << 30));
                best = Math.max(best, store / dd);
            }
            passed &= best >= DD_SHARE_MIN;
        }
        return passed;
    }

    private static double write(Path directory, long bytes, long length) throws IOException, InterruptedException {
        Machine.delete(directory);
        try (BenchStore bench = new BenchStore(BenchStore.onDisk(directory, bytes + bytes / 4 + (64 << 20)))) {
            long count = (bytes + length - 1) / length;
            // Warm-up, so that the JIT compiler has compiled the write path before the measurement.
            put(bench, count, Math.min(count / 8, WARM_UP_OBJECTS), length);
            bench.store().sync();
            long start = System.nanoTime();
            put(bench, 0, count, length);
            bench.store().sync();
            return bytes * 1e9 / (System.nanoTime() - start);
        } finally {
            Machine.delete(directory);
        }
    }

    /** Stores objects from {@code from} on, with as many threads as a proxy on this machine has event loops. */
    private static void put(BenchStore bench, long from, long count, long length) throws InterruptedException {
        Thread[] producers = new Thread[PRODUCERS];
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        for (int i = 0; i < producers.length; i++) {
            long first = from + i;
            producers[i] = new Thread(() -> putEvery(bench, first, from + count, length), "producer-" + i);
            producers[i].setUncaughtExceptionHandler((thread, e) -> failure.set(e));
            producers[i].start();
        }
        for (Thread producer : producers) {
            producer.join();
        }
        if (failure.get() != null) {
            throw new IllegalStateException(failure.get());
        }
    }

    private static void putEvery(BenchStore bench, long first, long end, long length) {
        for (long number = first; number < end; number += PRODUCERS) {
            bench.put(number, length);
        }
    }
}
