package io.millrace.bench.store;

import io.millrace.store.StoredObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Writing into a full store: throughput while each new segment needs an old one given up and what was hit in it carried
 * forward, beside the throughput of the same writes into an empty one; the same while every second object is asked for
 * again, and so carried; and how long reads take meanwhile.
 */
final class ReclaimWorkload {
    private static final long LENGTH = 32 * 1024;
    private static final double SHARE_LEAST = 0.8;
    /** Reads per second: a client's, not a load of its own. */
    private static final long READ_INTERVAL_NANOS = 500_000;

    private ReclaimWorkload() {}

    static boolean run(Path directory, long gibibytes) throws IOException, InterruptedException {
        Machine.delete(directory);
        Files.createDirectories(directory);
        long count = (gibibytes << 30) / LENGTH;
        try (BenchStore bench = new BenchStore(BenchStore.onDisk(directory, gibibytes << 30))) {
            bench.put(0, LENGTH);
            long filled = count * 8 / 10;
            double empty = writeWhileReading("empty", bench, 1, filled, false);
            write(bench, filled, count / 2);
            long next = filled + count / 2;
            double full = writeWhileReading("full", bench, next, 2 * count, false);
            next += 2 * count;
            var before = bench.store().statistics().volumes().get(0);
            double carrying = writeWhileReading("carrying", bench, next, 3 * count, true);
            var after = bench.store().statistics().volumes().get(0);
            Machine.say("before %s", before);
            Machine.say("after %s", after);
            Machine.say("while every second object is asked for: %.0f MB/s of new objects", carrying / 1e6);
            var statistics = bench.store().statistics();
            Machine.say("%s", statistics.volumes().get(0));
            Machine.say("segments reclaimed: %d", statistics.counters().segmentsReclaimed());
            Machine.say("empty %.0f MB/s, full %.0f MB/s, share %.2f", empty / 1e6, full / 1e6, full / empty);
            return full / empty >= SHARE_LEAST;
        } finally {
            Machine.delete(directory);
        }
    }

    private static double writeWhileReading(String phase, BenchStore bench, long from, long count, boolean halfAgain)
            throws IOException, InterruptedException {
        AtomicLong newest = new AtomicLong(from);
        AtomicBoolean stop = new AtomicBoolean();
        long[][] waits = new long[1][];
        Thread reader = new Thread(() -> waits[0] = read(bench, newest, count, stop), "reader");
        reader.start();
        long start = System.nanoTime();
        for (long number = from; number < from + count; number++) {
            bench.put(number, LENGTH);
            newest.lazySet(number);
            if (halfAgain && number % 2 == 0) {
                // Written a tenth of the volume ago, so that it is carried when its turn comes.
                bench.touch(number - count / 30 / 2 * 2);
            }
        }
        bench.store().sync();
        double bytesPerSecond = count * LENGTH * 1e9 / (System.nanoTime() - start);
        stop.set(true);
        reader.join();
        report(phase, waits[0]);
        return bytesPerSecond;
    }

    private static void write(BenchStore bench, long from, long count) throws IOException {
        for (long number = from; number < from + count; number++) {
            bench.put(number, LENGTH);
        }
        bench.store().sync();
    }

    /** Reads among the newest half, the same tenth of it again and again, so that there is something to carry. */
    private static long[] read(BenchStore bench, AtomicLong newest, long count, AtomicBoolean stop) {
        SplittableRandom random = new SplittableRandom(3);
        long[] waits = new long[1 << 20];
        int size = 0;
        while (!stop.get() && size < waits.length) {
            long back = random.nextInt(10) < 9 ? random.nextLong(count / 20) * 10 : random.nextLong(count / 2);
            long number = Math.max(0, newest.get() - 1 - back);
            long start = System.nanoTime();
            StoredObject<PlainHead> object = bench.find(number);
            if (object != null) {
                bench.verify(object, number);
                object.release();
                waits[size++] = System.nanoTime() - start;
            }
            LockSupport.parkNanos(READ_INTERVAL_NANOS);
        }
        return Arrays.copyOf(waits, size);
    }

    private static void report(String phase, long[] waits) {
        Arrays.sort(waits);
        if (waits.length == 0) {
            Machine.say("%s: no read found anything", phase);
            return;
        }
        Machine.say(
                "%s: reads %d: p50 %.2f ms, p99 %.2f, p99.9 %.2f, max %.2f",
                phase,
                waits.length,
                waits[waits.length / 2] / 1e6,
                waits[(int) (waits.length * 99L / 100)] / 1e6,
                waits[(int) (waits.length * 999L / 1000)] / 1e6,
                waits[waits.length - 1] / 1e6);
    }
}
