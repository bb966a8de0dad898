package io.millrace.bench.store;

import io.millrace.store.VolumeConfig;
import io.millrace.store.VolumeConfig.DirectWrites;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Benchmark of direct writes (O_DIRECT) through the writer of a volume. It stores new objects on a block device or in a
 * directory, alternately through the page cache and with O_DIRECT, and reports CPU time per MiB of records. The CPU
 * time of the machine includes kernel threads, which write the pages of the page cache. The content of the device is
 * lost.
 */
final class DirectWriteWorkload {
    static final long[] LENGTHS = {1024, 16 * 1024, 256 * 1024, 4 << 20};
    private static final int ROUNDS = 3;
    private static final long WARM_UP_BYTES = 256L << 20;

    private DirectWriteWorkload() {}

    static boolean run(Path path, long mebibytes, long[] lengths) throws IOException {
        Path index = Files.createTempDirectory("millrace-direct");
        Machine.say(
                "%-10s %-7s %14s %14s %12s %12s",
                "length", "direct", "process us/MiB", "machine us/MiB", "us/object", "MiB/s");
        try {
            for (long length : lengths) {
                for (int round = 0; round < ROUNDS; round++) {
                    // The order changes from round to round, because the JVM becomes faster over time.
                    DirectWrites first = round % 2 == 0 ? DirectWrites.ON : DirectWrites.OFF;
                    DirectWrites second = round % 2 == 0 ? DirectWrites.OFF : DirectWrites.ON;
                    measure(volume(path, mebibytes, index).with(first), mebibytes << 20, length);
                    measure(volume(path, mebibytes, index).with(second), mebibytes << 20, length);
                }
            }
        } finally {
            Machine.delete(index);
        }
        return true;
    }

    private static VolumeConfig volume(Path path, long mebibytes, Path index) {
        return Files.isDirectory(path)
                ? new VolumeConfig(path.resolve("store"), (mebibytes + mebibytes / 4) << 20)
                : new VolumeConfig(path, 0, VolumeConfig.DEFAULT_NAME, index, false);
    }

    private static void measure(VolumeConfig volume, long bytes, long length) throws IOException {
        try (BenchStore bench = new BenchStore(BenchStore.onDisk(volume))) {
            // The path may contain objects of earlier measurements. The time in nanoseconds is above their numbers.
            long firstNumber = System.nanoTime();
            firstNumber = put(bench, firstNumber, WARM_UP_BYTES, length);
            bench.store().sync();
            long written = written(bench);
            double process = Machine.cpuSeconds();
            double machine = Machine.machineCpuSeconds();
            long start = System.nanoTime();
            long endNumber = put(bench, firstNumber, bytes, length);
            bench.store().sync();
            double seconds = (System.nanoTime() - start) / 1e9;
            double mebibytes = (written(bench) - written) / (double) (1 << 20);
            double processMicros = (Machine.cpuSeconds() - process) * 1e6;
            double machineMicros = (Machine.machineCpuSeconds() - machine) * 1e6;
            Machine.say(
                    "%-10d %-7s %14.0f %14.0f %12.2f %12.0f",
                    length,
                    volume.directWrites(),
                    processMicros / mebibytes,
                    machineMicros / mebibytes,
                    processMicros / (endNumber - firstNumber),
                    mebibytes / seconds);
        }
    }

    private static long written(BenchStore bench) {
        return bench.store().statistics().volumes().get(0).ring().bytesWritten();
    }

    /** Stores new objects from number {@code first} on; returns the number after the last one. */
    private static long put(BenchStore bench, long first, long bytes, long length) {
        long number = first;
        for (long done = 0; done < bytes; done += length) {
            bench.put(number++, length);
        }
        return number;
    }
}
