package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests several threads on few keys. The changes of a key are numbered in their order: stored objects, replaced heads
 * and removals. A reader finds exactly the result of one change. That change is not older than the newest change
 * acknowledged before the read began.
 */
class StoreConcurrentHistoryTest {
    private static final int KEYS = 12;
    private static final int THREADS = 4;
    private static final int STEPS = 400;

    private final Key[] keys = new Key[KEYS];
    private final AtomicInteger found = new AtomicInteger();
    /**
     * Incremented before and after every command to a volume. If the number changes during a read, the read may find
     * nothing.
     */
    private final AtomicLong commands = new AtomicLong();

    private TestStore test;

    /** A key and its changes. */
    private static final class Key {
        private final String name;
        /** Held by the thread that changes the key. */
        private final ReentrantLock changing = new ReentrantLock();
        /** Number of the last change; guarded by the lock. */
        private int begun;

        private volatile int acknowledged;

        Key(String name) {
            this.name = name;
        }
    }

    static List<Long> seeds() {
        List<Long> seeds = new ArrayList<>();
        for (long i = 0; i < Long.getLong("store.seeds", 4); i++) {
            seeds.add(Long.getLong("store.seed", 0) + i);
        }
        return seeds;
    }

    private static StoreConfig.Builder config(Random random) {
        int[] rams = {0, 20_000, 1 << 20};
        List<VolumeConfig> volumes = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(3); i++) {
            volumes.add(new VolumeConfig(Path.of("/v" + i), 512 * 1024 + random.nextInt(1 << 20)));
        }
        return StoreConfig.builder()
                .ramBytes(rams[random.nextInt(rams.length)])
                .volumes(volumes)
                .segmentBytes(128 * 1024)
                .blockBytes(HistoryModel.BLOCK)
                .diskAdmission(DiskAdmission.ALWAYS)
                .ioThreads(2);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void readsAreNotOlderThanAcknowledgedChanges(long seed) throws Exception {
        for (int i = 0; i < KEYS; i++) {
            keys[i] = new Key("key" + i);
        }
        FaultyFileIo io = new FaultyFileIo();
        StoreConfig.Builder config = config(new Random(seed));
        try (TestStore opened = new TestStore(config, io)) {
            test = opened;
            runAll(seed);
            test.sync();
            readAll();
        }
        try (TestStore again = new TestStore(config, seed % 2 == 0 ? io.afterKill() : io.afterReboot())) {
            test = again;
            readAll();
        }
        assertTrue(found.get() > 0, "nothing was ever found");
    }

    private void readAll() {
        for (Key key : keys) {
            read(key);
        }
    }

    private void runAll(long seed) throws InterruptedException {
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        AtomicBoolean over = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            Random random = new Random(seed * THREADS + t);
            threads.add(new Thread(() -> guarded(failures, () -> run(random))));
        }
        Random random = new Random(~seed);
        Thread operator = new Thread(() -> guarded(failures, () -> operate(random, over)));
        operator.start();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        over.set(true);
        operator.join();
        Throwable first = failures.peek();
        if (first != null) {
            throw new AssertionError("seed " + seed + ", failures " + failures.size(), first);
        }
    }

    private static void guarded(ConcurrentLinkedQueue<Throwable> failures, Runnable work) {
        try {
            work.run();
        } catch (Throwable e) {
            failures.add(e);
        }
    }

    private void run(Random random) {
        for (int step = 0; step < STEPS; step++) {
            Key key = keys[random.nextInt(KEYS)];
            switch (random.nextInt(8)) {
                case 0, 1 -> change(key, () -> put(key, length(random)));
                case 2 -> change(key, () -> remove(key));
                case 3 -> change(key, () -> update(key));
                default -> read(key);
            }
        }
    }

    private static int length(Random random) {
        return random.nextInt(4) == 0 ? random.nextInt(40_000) : random.nextInt(3000);
    }

    /** Syncs, and takes volumes offline and online. */
    private void operate(Random random, AtomicBoolean over) {
        List<VolumeConfig> volumes = test.config().volumes();
        while (!over.get()) {
            test.sync();
            if (volumes.size() > 1 && random.nextInt(4) == 0) {
                Path path = volumes.get(random.nextInt(volumes.size())).path();
                commands.incrementAndGet();
                VolumeCommandsTest.offline(test, path);
                test.sync();
                VolumeCommandsTest.online(test, path);
                commands.incrementAndGet();
            }
        }
    }

    /** Returns false if a volume was offline since the number of commands had this value. */
    private boolean synced(long before) {
        try {
            test.sync();
            return before % 2 == 0 && before == commands.get();
        } catch (UncheckedIOException e) {
            assertMeanwhile(before, e);
            return false;
        }
    }

    private void assertMeanwhile(long before, UncheckedIOException e) {
        assertTrue(before != commands.get() || before % 2 == 1, () -> "no volume was out: " + e);
    }

    private static void change(Key key, Runnable change) {
        key.changing.lock();
        try {
            change.run();
        } finally {
            key.changing.unlock();
        }
    }

    /** Returns a head with the number of its change and the seed of its body. */
    private static String head(int number, int seed, int length) {
        return number + ":" + seed + ":" + length;
    }

    private void put(Key key, int length) {
        int number = ++key.begun;
        if (test.put(key.name, head(number, number, length), body(key, number, length))) {
            key.acknowledged = number;
        }
    }

    private void remove(Key key) {
        int number = ++key.begun;
        test.remove(key.name);
        key.acknowledged = number;
    }

    private void update(Key key) {
        long before = commands.get();
        StoredObject<TextHead> object = test.find(key.name);
        if (object != null) {
            String[] parts = object.head().text().split(":", -1);
            int number = ++key.begun;
            test.store.update(
                    object, TextHead.of(head(number, Integer.parseInt(parts[1]), Integer.parseInt(parts[2]))));
            object.release();
            // A reader without a part of the object in RAM finds it when it is written. While a volume is offline, the
            // reader may miss it.
            if (synced(before)) {
                key.acknowledged = number;
            }
        }
    }

    private static byte[] body(Key key, int seed, int length) {
        return TestStore.body(seed * 1000L + key.name.hashCode(), length);
    }

    private void read(Key key) {
        long before = commands.get();
        int acknowledged = key.acknowledged;
        StoredObject<TextHead> object = test.find(key.name);
        if (object == null) {
            return;
        }
        try {
            String[] parts = object.head().text().split(":", -1);
            int number = Integer.parseInt(parts[0]);
            assertTrue(number >= acknowledged, () -> key.name + ": found " + number + " after " + acknowledged);
            assertEquals(key.name, object.key().toString());
            byte[] expected = body(key, Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
            assertArrayEquals(expected, TestStore.readAll(object), () -> key.name + ": " + number);
            found.incrementAndGet();
        } catch (UncheckedIOException e) {
            assertMeanwhile(before, e);
        } finally {
            object.release();
        }
    }
}
