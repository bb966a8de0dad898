package io.millrace.bench.store;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.tool.CheckReport;
import io.millrace.store.tool.StoreCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A soak test with requests of skewed popularity, updates and removals. The objects together are four times as large as
 * RAM tier and volume. The test fails if memory, disk use or the number of file descriptors grows. About one hit in ten
 * is verified byte for byte.
 */
final class SoakWorkload {
    private static final long RAM_BYTES = 64L << 20;
    private static final long DISK_BYTES = 512L << 20;
    private static final int WORKING_SET_FACTOR = 4;
    private static final long LENGTH_MEAN = 9_000;
    private static final int THREADS = 2;
    private static final int REPORTS = 8;
    /** Limit of the growth of anonymous memory between a quarter of the run and its end, in KiB. */
    private static final long GROWTH_KIB_MAX = 96 * 1024;

    private final BenchStore bench;
    private final long objects = (RAM_BYTES + DISK_BYTES) * WORKING_SET_FACTOR / LENGTH_MEAN;
    private final AtomicLong hits = new AtomicLong();
    private final AtomicLong fills = new AtomicLong();

    private SoakWorkload(BenchStore bench) {
        this.bench = bench;
    }

    static boolean run(Path directory, long requests) throws IOException, InterruptedException {
        Machine.delete(directory);
        Files.createDirectories(directory);
        try {
            BenchStore bench = new BenchStore(StoreConfig.builder()
                    .ramBytes(RAM_BYTES)
                    .volumes(List.of(new VolumeConfig(directory, DISK_BYTES))));
            boolean passed;
            try (bench) {
                passed = new SoakWorkload(bench).soak(directory, requests);
            }
            long left = bench.buffersInUse();
            CheckReport check = StoreCheck.check(directory);
            String verdict = check.isSound() ? "the volume is sound" : check.toString();
            Machine.say("after closing: buffers in use %d, %s", left, verdict);
            return passed && left == 0 && check.isSound();
        } finally {
            Machine.delete(directory);
        }
    }

    private boolean soak(Path directory, long requests) throws IOException, InterruptedException {
        Machine.say("%d objects, %d requests", objects, requests);
        long[] anonymous = new long[REPORTS];
        long[] descriptors = new long[REPORTS];
        for (int report = 0; report < REPORTS; report++) {
            long start = System.nanoTime();
            runThreads(report, requests / REPORTS);
            double seconds = (System.nanoTime() - start) / 1e9;
            System.gc();
            anonymous[report] = Machine.statusKib("RssAnon");
            descriptors[report] = Machine.descriptors();
            StoreStatistics statistics = bench.store().statistics();
            Machine.say(
                    "%d requests, %.0f/s: hits %.3f, RssAnon %d KiB, descriptors %d, files %d MiB, RAM %d MiB, pinned %d",
                    (report + 1) * (requests / REPORTS),
                    (double) requests / REPORTS / seconds,
                    hits.get() / (double) (hits.get() + fills.get()),
                    anonymous[report],
                    descriptors[report],
                    Machine.bytesBelow(directory) >> 20,
                    statistics.ram().bytes() >> 20,
                    statistics.volumes().get(0).pinnedSegments());
        }
        bench.store().sync();
        int early = REPORTS / 4 - 1;
        boolean passed = expect("growth of RssAnon, KiB", anonymous[REPORTS - 1] - anonymous[early], GROWTH_KIB_MAX);
        passed &= expect("growth of descriptors", descriptors[REPORTS - 1] - descriptors[early], 2);
        passed &= expect("MiB of files", Machine.bytesBelow(directory) >> 20, (DISK_BYTES >> 20) + 64);
        passed &= expect("RAM bytes", bench.store().statistics().ram().bytes(), RAM_BYTES);
        passed &= expect(
                "segments pinned", bench.store().statistics().volumes().get(0).pinnedSegments(), 0);
        return passed;
    }

    private static boolean expect(String what, long actual, long most) {
        if (actual > most) {
            Machine.say("FAILED %s: actual=%d, limit=%d", what, actual, most);
        }
        return actual <= most;
    }

    private void runThreads(int report, long requests) throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        AtomicLong failures = new AtomicLong();
        for (int i = 0; i < THREADS; i++) {
            long seed = report * 1000L + i;
            threads[i] = new Thread(() -> requests(seed, requests / THREADS), "soak-" + i);
            threads[i].setUncaughtExceptionHandler((thread, e) -> {
                e.printStackTrace();
                failures.incrementAndGet();
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failures.get() > 0) {
            throw new IllegalStateException(failures + " threads failed");
        }
    }

    private void requests(long seed, long count) {
        SplittableRandom random = new SplittableRandom(seed);
        for (long i = 0; i < count; i++) {
            // Popularity falls steeply with the rank, so that a few keys get most requests.
            double unit = random.nextDouble();
            long number = (long) (objects * unit * unit * unit);
            int action = random.nextInt(1000);
            if (action < 3) {
                remove(number);
            } else {
                request(number, action);
            }
        }
    }

    private void request(long number, int action) {
        StoredObject<PlainHead> object = bench.find(number);
        if (object == null) {
            fills.incrementAndGet();
            bench.tryPut(number, length(number));
            return;
        }
        try {
            hits.incrementAndGet();
            if (action < 100) {
                bench.verify(object, number);
            } else if (action < 105) {
                bench.store().update(object, new PlainHead(number));
            }
        } finally {
            object.release();
        }
    }

    private void remove(long number) {
        CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
        bench.store().remove(bench.key(number), Runnable::run, (present, failure) -> done.complete(null));
        BenchStore.join(done);
    }

    /** Returns the length of an object in bytes: 200 to 12,200, and for one object in a thousand 1 to 5 MiB. */
    private static long length(long number) {
        long mixed = (number * 0xD6E8_FEB8_6659_FD93L) >>> 32;
        if (mixed % 1000 == 0) {
            return (1 << 20) + mixed % (4 << 20);
        }
        return 200 + mixed % 12_000;
    }
}
