package io.millrace.bench.purge;

import io.millrace.bench.store.Machine;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.purge.record.PurgeHistory;
import io.millrace.proxy.purge.sweep.PatternSweeper;
import io.millrace.store.InventoryStatistics;
import io.millrace.store.StoreKey;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures purges by tag and by regular expression in a store with many small objects.
 *
 * <pre>
 *   java -cp benchmarks.jar io.millrace.bench.purge.PurgeDriver DIRECTORY [OBJECTS]
 * </pre>
 *
 * <p>There is one tag for ten objects; the default is 10 million objects. The options of the JVM are in
 * benchmarks/README.md. The directory is created if missing; its files are deleted at the end. The exit code is 1 if a
 * purge has missed an object, and 2 for missing arguments. Times are printed, but have no limit.
 */
public final class PurgeDriver {
    private static final long OBJECTS_PER_TAG = 10;
    private static final int PURGES = 2000;
    private static final int READERS = 2;
    /** Number of responses whose hits are measured during the sweep. */
    private static final int HOT = 10_000;

    private static final int PROBES = 2000;
    /** Limit of objects that wait for their entry in the inventory (the table of stored objects). */
    private static final long BEHIND_MAX = 16_000;

    private static final long PAUSE_NANOS = 1_000_000;
    /** Time without a new entry of the inventory after which lost objects are looked for. */
    private static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final String REGEX = "url =~ \"[.]css$\"";
    /**
     * Names of the threads that work for a sweep: the removal of the objects that a purge by regular expression
     * matches.
     */
    private static final List<String> SWEEP_THREADS = List.of("millrace-purge-sweep", "millrace-store-inventory");

    private final Path directory;
    private final long objects;
    private final TaggedStore store;
    /** Number of objects put so far. */
    private long put;
    /** All objects with a smaller number are known to be stored. */
    private long verified;

    private long putAgain;

    private PurgeDriver(Path directory, long objects, TaggedStore store) {
        this.directory = directory;
        this.objects = objects;
        this.store = store;
    }

    /** Runs the measurements. */
    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            System.err.println("usage: PurgeDriver DIRECTORY [OBJECTS]");
            System.exit(2);
        }
        Path directory = Path.of(args[0]);
        long objects = args.length < 2 ? 10_000_000 : Long.parseLong(args[1].replace("_", ""));
        Machine.delete(directory);
        Files.createDirectories(directory);
        boolean passed;
        try (TaggedStore store = new TaggedStore(directory, objects, objects / OBJECTS_PER_TAG)) {
            passed = new PurgeDriver(directory, objects, store).run();
        } finally {
            Machine.delete(directory);
        }
        System.exit(passed ? 0 : 1);
    }

    private boolean run() throws Exception {
        fill();
        printSize("filled");
        boolean passed = purgeTags("without other stamps");
        addStamps();
        passed &= purgeTags("with the stamps");
        try (HitLatencies hits = new HitLatencies(store, HOT)) {
            passed &= sweep(hits);
        }
        printSize("end");
        return passed;
    }

    private void fill() throws IOException {
        long start = System.nanoTime();
        for (long number = 0; number < objects; number++) {
            store.put(number, true);
            put = number + 1;
            if (number % 1000 == 0) {
                awaitInventory(number - BEHIND_MAX);
            }
        }
        store.store().sync();
        awaitInventory(objects);
        double seconds = (System.nanoTime() - start) / 1e9;
        Machine.say(
                "stored %d objects with %d tags in %.0f s; %d were stored again, since the volume's queue was full",
                objects, objects / OBJECTS_PER_TAG, seconds, putAgain);
    }

    /** Waits until the inventory has this number of entries; after the last object, until it is complete. */
    private void awaitInventory(long entries) {
        InventoryStatistics inventory = store.store().inventory();
        long seen = inventory.entries();
        long seenNanos = System.nanoTime();
        while (inventory.entries() < entries || (entries == objects && !inventory.isWhole())) {
            if (inventory.obstacle() != null && inventory.entries() > 0) {
                throw new IllegalStateException(inventory.obstacle());
            }
            LockSupport.parkNanos(PAUSE_NANOS);
            inventory = store.store().inventory();
            if (inventory.entries() != seen) {
                seen = inventory.entries();
                seenNanos = System.nanoTime();
            } else if (System.nanoTime() - seenNanos > STALL_NANOS) {
                putLostAgain();
                seenNanos = System.nanoTime();
            }
        }
    }

    /** Stores the objects again that the volume did not write. A store drops writes if the volume's queue is full. */
    private void putLostAgain() {
        for (long number = verified; number < put; number++) {
            if (!store.store().contains(store.key(number))) {
                store.put(number, true);
                putAgain++;
            }
        }
        // The last objects may still wait for the volume.
        verified = Math.max(verified, put - BEHIND_MAX);
    }

    private void printSize(String when) throws Exception {
        InventoryStatistics inventory = store.store().inventory();
        Machine.say(
                "%s: heap %d MiB, RSS %d MiB (anonymous %d MiB), files %d MiB, of these inventory %d MiB, journal %d KiB;"
                        + " inventory complete: %b",
                when,
                usedHeap() >> 20,
                Machine.statusKib("VmRSS") >> 10,
                Machine.statusKib("RssAnon") >> 10,
                Machine.bytesBelow(directory) >> 20,
                inventory.bytes() >> 20,
                Files.size(directory.resolve("journal")) >> 10,
                inventory.isWhole());
    }

    private static long usedHeap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Fills the table of purged tags with tags that no object has. The stamp of a tag is the number of its purge. */
    private void addStamps() throws Exception {
        long stamps = objects / OBJECTS_PER_TAG;
        long before = usedHeap();
        long start = System.nanoTime();
        store.purgeOtherTags(stamps);
        double seconds = (System.nanoTime() - start) / 1e9;
        Machine.say(
                "%d stamps of other tags in %.1f s: %.1f bytes of heap a stamp",
                stamps, seconds, (usedHeap() - before) / (double) stamps);
        printSize("with the stamps");
    }

    /** Purges tags one by one, while threads look up responses with these tags. */
    private boolean purgeTags(String when) throws Exception {
        long[] answered = new long[PURGES];
        long[] inForce = new long[PURGES];
        SplittableRandom random = new SplittableRandom(when.hashCode());
        long missed = 0;
        for (int i = 0; i < PURGES; i++) {
            long number = random.nextLong(objects / OBJECTS_PER_TAG);
            store.put(number, true);
            AtomicLong latest = new AtomicLong(System.nanoTime());
            Thread[] readers = startReaders(number, latest);
            long start = System.nanoTime();
            long answer = store.purgeTag(TaggedStore.tagName(store.tag(number, i % 3)), i % 2 == 0);
            for (Thread reader : readers) {
                reader.join();
            }
            answered[i] = answer - start;
            inForce[i] = Math.max(0, latest.get() - answer);
            missed += store.isCurrent(number) ? 1 : 0;
        }
        Machine.say(
                "purges of a tag, %s: answered (durable) within %s;"
                        + " last lookup on %d threads that still found the response: %s after the answer",
                when, times(answered), READERS, times(inForce));
        return missed == 0;
    }

    /**
     * Starts threads that look up a response until a purge has outdated it. They record the start of the last lookup
     * that still found it valid.
     */
    private Thread[] startReaders(long number, AtomicLong latest) {
        StoreKey key = store.key(number);
        TargetUri url = TaggedStore.url(number);
        Thread[] readers = new Thread[READERS];
        CompletableFuture<Boolean> started = new CompletableFuture<>();
        for (int i = 0; i < READERS; i++) {
            readers[i] = new Thread(
                    () -> {
                        started.complete(true);
                        long began = System.nanoTime();
                        while (store.decide(key, url) == null) {
                            latest.accumulateAndGet(began, Math::max);
                            began = System.nanoTime();
                        }
                    },
                    "reader-" + i);
            readers[i].setDaemon(true);
            readers[i].start();
        }
        TaggedStore.join(started);
        return readers;
    }

    private static String times(long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return String.format(
                Locale.ROOT,
                "%.3f ms (median), %.2f ms (p99), %.2f ms (longest)",
                sorted[sorted.length / 2] / 1e6,
                sorted[sorted.length * 99 / 100] / 1e6,
                sorted[sorted.length - 1] / 1e6);
    }

    /**
     * Purges one object in a hundred by a regular expression, and measures the sweep: the background removal of the
     * matching objects.
     */
    private boolean sweep(HitLatencies hits) throws Exception {
        TimeUnit.SECONDS.sleep(2);
        hits.restart();
        TimeUnit.SECONDS.sleep(8);
        double before = hits.p99Micros();
        long probed = objects / 200 * 100;
        store.put(probed, true);
        hits.restart();
        try (PatternSweeper sweeper = new PatternSweeper(
                store.store(),
                store.invalidator(),
                PurgeHistory.inMemory(System::currentTimeMillis).removals())) {
            sweeper.start();
            double cpuBefore = sweepCpuSeconds();
            long start = System.nanoTime();
            CompletableFuture<Long> answer = new CompletableFuture<>();
            store.invalidator()
                    .invalidate(
                            PurgedPattern.parse(REGEX, false),
                            false,
                            Runnable::run,
                            (entries, failure) -> answer.complete(System.nanoTime()));
            boolean atOnce = !store.isCurrent(probed);
            double answered = (TaggedStore.join(answer) - start) / 1e6;
            double cpu = cpuBefore;
            while (!store.invalidator().patterns().isEmpty()) {
                LockSupport.parkNanos(PAUSE_NANOS);
                cpu = Math.max(cpu, sweepCpuSeconds());
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            Machine.say(
                    "purge by regular expression: answered within %.1f ms, in force at once: %b; sweep of %.1f s,"
                            + " %.1f s CPU (%.0f %% of a core), %d removed, %d incomplete sweeps",
                    answered,
                    atOnce,
                    seconds,
                    cpu - cpuBefore,
                    100 * (cpu - cpuBefore) / seconds,
                    sweeper.removed(),
                    sweeper.incomplete());
            Machine.say(
                    "p99 of a hit: %.2f us before, %.2f us during the sweep (%d hits)",
                    before, hits.p99Micros(), hits.count());
            return atOnce && isSwept();
        }
    }

    private boolean isSwept() {
        SplittableRandom random = new SplittableRandom(7);
        long found = 0;
        for (int i = 0; i < PROBES; i++) {
            long number = random.nextLong(objects / 100) * 100;
            found += store.store().contains(store.key(number)) ? 1 : 0;
        }
        Machine.say("%d of %d purged objects are stored after the sweep", found, PROBES);
        return found == 0;
    }

    /** Returns the CPU time of the threads that a sweep uses. */
    private static double sweepCpuSeconds() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long nanos = 0;
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && SWEEP_THREADS.contains(thread.getThreadName())) {
                nanos += Math.max(0, threads.getThreadCpuTime(thread.getThreadId()));
            }
        }
        return nanos / 1e9;
    }
}
