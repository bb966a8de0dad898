package io.millrace.bench.store;

import io.millrace.store.StoreStatistics.Ring;
import io.millrace.store.StoredObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/**
 * Benchmark of writes into a full store. There, each new segment requires the reclaim of an old one. The reclaim copies
 * objects with hits into the new segment ("carries them forward"). The throughput is compared with the same writes into
 * an empty store. In the phase "full" few objects are carried. In the phase "carrying" half of the stored objects are
 * requested repeatedly and therefore carried. The benchmark also measures the duration of concurrent reads.
 */
final class ReclaimWorkload {
    private static final long LENGTH = 32 * 1024;
    private static final double THROUGHPUT_SHARE_MIN = 0.8;
    private static final int REQUESTS_PER_WRITE = 4;
    /** Interval between reads; the rate is too low to slow down the writes. */
    private static final long READ_INTERVAL_NANOS = 500_000;

    private ReclaimWorkload() {}

    static boolean run(Path directory, long gibibytes) throws IOException, InterruptedException {
        Machine.delete(directory);
        Files.createDirectories(directory);
        long count = (gibibytes << 30) / LENGTH;
        try (BenchStore bench = new BenchStore(BenchStore.onDisk(directory, gibibytes << 30))) {
            bench.put(0, LENGTH);
            long filled = count * 8 / 10;
            double empty = writeWhileReading("empty", bench, 1, filled, number -> {});
            write(bench, filled, count / 2);
            long next = filled + count / 2;
            double full = writeWhileReading("full", bench, next, 2 * count, number -> {});
            next += 2 * count;
            LongConsumer requestHot = requestHot(bench, next, count / 2);
            writeWhileReading("settling", bench, next, 2 * count, requestHot);
            next += 2 * count;
            Ring before = ring(bench);
            double carrying = writeWhileReading("carrying", bench, next, 2 * count, requestHot);
            Ring after = ring(bench);
            double written = after.bytesWritten() - before.bytesWritten();
            double carried = (after.bytesCarried() - before.bytesCarried()) / written;
            // Throughput of all bytes written to disk: new bytes and bytes that were carried forward.
            double all = carrying / (1 - carried);
            Machine.say("%s", bench.store().statistics().volumes().get(0));
            Machine.say(
                    "empty %.0f MB/s, full %.0f MB/s, share %.2f; carrying %.2f of the bytes %.0f MB/s of new ones, %.0f MB/s in all, share %.2f",
                    empty / 1e6, full / 1e6, full / empty, carried, carrying / 1e6, all / 1e6, all / empty);
            return full / empty >= THROUGHPUT_SHARE_MIN && all / empty >= THROUGHPUT_SHARE_MIN;
        } finally {
            Machine.delete(directory);
        }
    }

    /**
     * Returns a callback for each written object. It requests random objects among the {@code hot} objects before
     * {@code newest}, so that half of each reclaimed segment is carried forward.
     */
    private static LongConsumer requestHot(BenchStore bench, long newest, long hot) {
        SplittableRandom random = new SplittableRandom(4);
        return number -> {
            for (int i = 0; i < REQUESTS_PER_WRITE; i++) {
                bench.touch(newest - 1 - random.nextLong(hot));
            }
        };
    }

    private static Ring ring(BenchStore bench) {
        return bench.store().statistics().volumes().get(0).ring();
    }

    private static double writeWhileReading(String phase, BenchStore bench, long from, long count, LongConsumer written)
            throws IOException, InterruptedException {
        AtomicLong newest = new AtomicLong(from);
        AtomicBoolean stop = new AtomicBoolean();
        long[][] durations = new long[1][];
        Thread reader = new Thread(() -> durations[0] = read(bench, newest, count, stop), "reader");
        reader.start();
        long start = System.nanoTime();
        for (long number = from; number < from + count; number++) {
            bench.put(number, LENGTH);
            newest.lazySet(number);
            written.accept(number);
        }
        bench.store().sync();
        double bytesPerSecond = count * LENGTH * 1e9 / (System.nanoTime() - start);
        stop.set(true);
        reader.join();
        report(phase, durations[0]);
        return bytesPerSecond;
    }

    private static void write(BenchStore bench, long from, long count) throws IOException {
        for (long number = from; number < from + count; number++) {
            bench.put(number, LENGTH);
        }
        bench.store().sync();
    }

    /**
     * Reads random objects among the newest half, and verifies them. Nine of ten reads select from the same tenth of
     * these objects, so that some objects are carried forward. Returns the duration of each read in nanoseconds.
     */
    private static long[] read(BenchStore bench, AtomicLong newest, long count, AtomicBoolean stop) {
        SplittableRandom random = new SplittableRandom(3);
        long[] durations = new long[1 << 20];
        int size = 0;
        while (!stop.get() && size < durations.length) {
            long back = random.nextInt(10) < 9 ? random.nextLong(count / 20) * 10 : random.nextLong(count / 2);
            long number = Math.max(0, newest.get() - 1 - back);
            long start = System.nanoTime();
            StoredObject<PlainHead> object = bench.find(number);
            if (object != null) {
                bench.verify(object, number);
                object.release();
                durations[size++] = System.nanoTime() - start;
            }
            LockSupport.parkNanos(READ_INTERVAL_NANOS);
        }
        return Arrays.copyOf(durations, size);
    }

    private static void report(String phase, long[] durations) {
        Arrays.sort(durations);
        if (durations.length == 0) {
            Machine.say("%s: no read found anything", phase);
            return;
        }
        Machine.say(
                "%s: reads %d: p50 %.2f ms, p99 %.2f, p99.9 %.2f, max %.2f",
                phase,
                durations.length,
                durations[durations.length / 2] / 1e6,
                durations[(int) (durations.length * 99L / 100)] / 1e6,
                durations[(int) (durations.length * 999L / 1000)] / 1e6,
                durations[durations.length - 1] / 1e6);
    }
}
