package io.millrace.bench.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writing objects of some lengths, the final sync included, beside dd on the same disk in the same run. */
final class WriteWorkload {
    private static final long[] LENGTHS = {4 * 1024, 32 * 1024, 256 * 1024, 8 << 20};
    private static final int ROUNDS = 3;
    /** Of dd's throughput, what 256 KiB objects must reach. */
    private static final double SHARE_LEAST = 0.7;

    private WriteWorkload() {}

    static boolean run(Path directory, long gibibytes) throws IOException, InterruptedException {
        Files.createDirectories(directory);
        boolean good = true;
        Machine.say("%-10s %8s %8s %8s", "length", "MB/s", "dd MB/s", "share");
        for (long length : LENGTHS) {
            double best = 0;
            for (int round = 0; round < ROUNDS; round++) {
                double dd = Machine.ddBytesPerSecond(directory, gibibytes << 10);
                double store = write(directory.resolve("store"), gibibytes << 30, length);
                Machine.say("%-10d %8.0f %8.0f %8.2f", length, store / 1e6, dd / 1e6, store / dd);
                best = Math.max(best, store / dd);
            }
            good &= length < 256 * 1024 || best >= SHARE_LEAST;
        }
        return good;
    }

    private static double write(Path directory, long bytes, long length) throws IOException {
        Machine.delete(directory);
        try (BenchStore bench = new BenchStore(BenchStore.onDisk(directory, bytes + bytes / 4 + (64 << 20)))) {
            long start = System.nanoTime();
            for (long number = 0; number * length < bytes; number++) {
                bench.put(number, length);
            }
            bench.store().sync();
            return bytes * 1e9 / (System.nanoTime() - start);
        } finally {
            Machine.delete(directory);
        }
    }
}
