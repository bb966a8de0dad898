package io.millrace.bench.store;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Benchmark of opening a store with many small objects. It measures the time until the first hit after kill -9 and
 * after a clean stop. It also deletes the index, as if the machine had lost power, and measures the time of the rebuild
 * and the requests during the rebuild.
 */
final class ReopenWorkload {
    private static final long BODY_BYTES = 100;
    /** Disk space per object, rounded up, so that all objects fit. */
    private static final long RECORD_BYTES = 384;

    private static final double FIRST_HIT_SECONDS_MAX = 1.0;
    private static final int PROBES = 2000;

    private ReopenWorkload() {}

    private static StoreConfig.Builder config(Path directory, long objects) {
        return BenchStore.onDisk(directory, objects * RECORD_BYTES + (1L << 28));
    }

    /**
     * Stores the objects, prints {@code ready}, and waits until the process is killed. Runs in a process of its own.
     */
    static boolean fill(Path directory, long objects) throws IOException, InterruptedException {
        BenchStore bench = new BenchStore(config(directory, objects));
        long start = System.nanoTime();
        for (long number = 0; number < objects; number++) {
            bench.put(number, BODY_BYTES);
        }
        bench.store().sync();
        Machine.say("stored %d objects in %.1f s", objects, (System.nanoTime() - start) / 1e9);
        Machine.say("ready");
        TimeUnit.HOURS.sleep(1);
        return false;
    }

    static boolean run(Path directory, long objects) throws IOException, InterruptedException {
        Machine.delete(directory);
        Files.createDirectories(directory);
        try {
            fillAndKill(directory, objects);
            boolean good = firstHit("after kill -9", directory, objects);
            good &= firstHit("after a clean stop", directory, objects);
            Files.delete(directory.resolve("index"));
            return rebuild(directory, objects) && good;
        } finally {
            Machine.delete(directory);
        }
    }

    private static void fillAndKill(Path directory, long objects) throws IOException, InterruptedException {
        Process filler = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElse("java"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-XX:MaxDirectMemorySize=2g",
                        StoreDriver.class.getName(),
                        "fill",
                        directory.toString(),
                        Long.toString(objects))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var lines = filler.inputReader()) {
            for (String line = lines.readLine(); line != null && !line.equals("ready"); line = lines.readLine()) {
                Machine.say("%s", line);
            }
        } finally {
            filler.destroyForcibly().waitFor();
        }
    }

    private static boolean firstHit(String when, Path directory, long objects) throws IOException {
        long start = System.nanoTime();
        try (BenchStore bench = new BenchStore(config(directory, objects))) {
            long number = objects / 3;
            StoredObject<PlainHead> object = bench.find(number);
            double seconds = (System.nanoTime() - start) / 1e9;
            if (object == null) {
                Machine.say("%s: object %d is lost", when, number);
                return false;
            }
            bench.verify(object, number);
            object.release();
            Machine.say("%s: first hit after %.3f s", when, seconds);
            long found = probe(bench, objects);
            Machine.say("%s: found %d of %d, entries %d", when, found, PROBES, entries(bench));
            return seconds <= FIRST_HIT_SECONDS_MAX && found == PROBES;
        }
    }

    private static long probe(BenchStore bench, long objects) {
        SplittableRandom random = new SplittableRandom(7);
        long found = 0;
        for (int i = 0; i < PROBES; i++) {
            long number = random.nextLong(objects);
            StoredObject<PlainHead> object = bench.find(number);
            if (object != null) {
                bench.verify(object, number);
                object.release();
                found++;
            }
        }
        return found;
    }

    private static long entries(BenchStore bench) {
        return bench.store().statistics().volumes().get(0).entries();
    }

    private static boolean rebuild(Path directory, long objects) throws IOException {
        long start = System.nanoTime();
        try (BenchStore bench =
                new BenchStore(config(directory, objects).openWaitNanos(TimeUnit.MILLISECONDS.toNanos(50)))) {
            double opened = (System.nanoTime() - start) / 1e9;
            long requests = 0;
            long hits = 0;
            long stored = 0;
            SplittableRandom random = new SplittableRandom(11);
            while (bench.store().statistics().volumes().get(0).state() == StoreStatistics.State.OPENING) {
                StoredObject<PlainHead> object = bench.find(random.nextLong(objects));
                requests++;
                if (object != null) {
                    hits++;
                    object.release();
                }
                stored += bench.tryPut(objects + requests, BODY_BYTES) ? 1 : 0;
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            Machine.say("index lost: opened after %.3f s, rebuilt after %.1f s", opened, seconds);
            Machine.say("meanwhile: %d requests, %d hits, %d objects stored", requests, hits, stored);
            long found = probe(bench, objects);
            Machine.say("afterwards: found %d of %d, entries %d", found, PROBES, entries(bench));
            return found == PROBES && opened <= FIRST_HIT_SECONDS_MAX;
        }
    }
}
