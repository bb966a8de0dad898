package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests writers that store only if the object of their key stays the same. */
final class ConditionalCompleteTest {
    private static final int BLOCK = HistoryModel.BLOCK;
    private static final int THREADS = 4;
    private static final int STEPS = 300;
    private static final int KEYS = 3;

    private static TestStore store(int ramBytes, int volumes) {
        List<VolumeConfig> paths = new ArrayList<>();
        for (int i = 0; i < volumes; i++) {
            paths.add(new VolumeConfig(Path.of("/v" + i), 2 << 20));
        }
        StoreConfig.Builder config = StoreConfig.builder()
                .ramBytes(ramBytes)
                .volumes(paths)
                .segmentBytes(128 * 1024)
                .blockBytes(BLOCK)
                .diskAdmission(DiskAdmission.ALWAYS)
                .ioThreads(2);
        return new TestStore(config, new FaultyFileIo());
    }

    private static ObjectWriter<TextHead> writer(TestStore test, String key, String head, int length) {
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of(head), length);
        writer.write(0, Unpooled.wrappedBuffer(TestStore.body(length, length)));
        return writer;
    }

    private static String headOf(TestStore test, String key) {
        StoredObject<TextHead> object = test.find(key);
        if (object == null) {
            return "";
        }
        String text = object.head().text();
        object.release();
        return text;
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 2 * BLOCK + 5})
    void storesIfNothingChanged(int length) {
        try (TestStore test = store(1 << 20, 1)) {
            assertTrue(test.put("a", "before", TestStore.body(1, 20)));
            ObjectWriter<TextHead> writer = writer(test, "a", "new", length);
            assertTrue(test.put("a", "earlier", TestStore.body(1, 20)));
            writer.expectUnchanged();
            assertTrue(test.put("b", "other key", TestStore.body(1, 20)));
            writer.complete(length);
            assertFalse(writer.isOvertaken());
            assertEquals("new", headOf(test, "a"));
            assertTrue(test.put("a", "later", TestStore.body(1, 20)));
            assertFalse(writer.isOvertaken());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 2 * BLOCK + 5})
    void anObjectStoredMeanwhileStays(int length) {
        try (TestStore test = store(1 << 20, 1)) {
            ObjectWriter<TextHead> writer = writer(test, "a", "new", length);
            writer.expectUnchanged();
            assertTrue(test.put("a", "meanwhile", TestStore.body(1, 20)));
            assertTrue(writer.isOvertaken());
            writer.complete(length);
            assertTrue(writer.isFailed());
            assertTrue(writer.isOvertaken());
            assertEquals("meanwhile", headOf(test, "a"));
        }
    }

    @Test
    void aNewHeadIsAChange() {
        try (TestStore test = store(1 << 20, 1)) {
            assertTrue(test.put("a", "before", TestStore.body(1, 20)));
            ObjectWriter<TextHead> writer = writer(test, "a", "new", 10);
            writer.expectUnchanged();
            StoredObject<TextHead> object = test.find("a");
            test.store.update(object, TextHead.of("validated"));
            object.release();
            writer.complete(10);
            assertTrue(writer.isOvertaken());
            assertEquals("validated", headOf(test, "a"));
        }
    }

    @Test
    void aPartThatIsKeptIsConditionalToo() {
        try (TestStore test = store(1 << 20, 1)) {
            ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
            writer.head(TextHead.of("new"), 3L * BLOCK);
            writer.write(0, Unpooled.wrappedBuffer(TestStore.body(1, 2 * BLOCK)));
            writer.expectUnchanged();
            assertTrue(test.put("a", "meanwhile", TestStore.body(1, 20)));
            writer.keep();
            assertEquals("meanwhile", headOf(test, "a"));
        }
    }

    @Test
    void aRemovalFailsTheWriterAsBefore() {
        try (TestStore test = store(1 << 20, 1)) {
            assertTrue(test.put("a", "before", TestStore.body(1, 20)));
            ObjectWriter<TextHead> writer = writer(test, "a", "new", 10);
            writer.expectUnchanged();
            CompletableFuture<Boolean> removed = new CompletableFuture<>();
            test.store.remove(test.key("a"), Runnable::run, (present, failure) -> removed.complete(present));
            TestStore.await(removed);
            writer.complete(10);
            assertTrue(writer.isFailed());
            assertFalse(writer.isOvertaken());
            assertNull(test.find("a"));
        }
    }

    @Test
    void anExtensionCannotBeConditional() {
        try (TestStore test = store(1 << 20, 1)) {
            assertTrue(test.put("a", "before", TestStore.body(1, 20)));
            StoredObject<TextHead> object = test.find("a");
            ObjectWriter<TextHead> writer = test.store.extend(object);
            assertThrows(IllegalStateException.class, writer::expectUnchanged);
            writer.keep();
            object.release();
        }
    }

    static List<Long> seeds() {
        List<Long> seeds = new ArrayList<>();
        for (long i = 0; i < Long.getLong("store.seeds", 4); i++) {
            seeds.add(Long.getLong("store.seed", 0) + i);
        }
        return seeds;
    }

    /**
     * Each thread reads a number and stores the next one if the object is unchanged. As with a compare-and-set, the
     * number at the end is the number of writers that stored: no update is lost, in RAM, on disk and in blocks.
     */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void noUpdateIsLost(long seed) throws Exception {
        Random random = new Random(seed);
        int[] rams = {0, 4_000, 1 << 20};
        int volumes = random.nextInt(3);
        AtomicInteger[] stored = new AtomicInteger[KEYS];
        try (TestStore test = store(volumes == 0 ? 1 << 20 : rams[random.nextInt(rams.length)], volumes)) {
            for (int key = 0; key < KEYS; key++) {
                stored[key] = new AtomicInteger();
                assertTrue(test.put("key" + key, "0", TestStore.body(1, 20)));
            }
            ExecutorService threads = Executors.newFixedThreadPool(THREADS);
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                Random own = new Random(random.nextLong());
                ends.add(CompletableFuture.runAsync(() -> increment(test, own, stored, volumes > 0), threads));
            }
            for (CompletableFuture<Void> end : ends) {
                TestStore.await(end);
            }
            threads.shutdown();
            for (int key = 0; key < KEYS; key++) {
                assertEquals(Integer.toString(stored[key].get()), headOf(test, "key" + key), "key" + key);
                assertTrue(stored[key].get() > 0);
            }
        }
    }

    private static void increment(TestStore test, Random random, AtomicInteger[] stored, boolean hasBlocks) {
        for (int step = 0; step < STEPS; step++) {
            int number = random.nextInt(KEYS);
            String key = "key" + number;
            int length = hasBlocks && random.nextInt(4) == 0 ? BLOCK + random.nextInt(BLOCK) : random.nextInt(100);
            ObjectWriter<TextHead> writer = test.store.create(test.key(key));
            writer.expectUnchanged();
            String present = headOf(test, key);
            if (present.isEmpty()) {
                // The read failed, because the volume reclaimed the object's segment or is changing the record.
                writer.abort();
                continue;
            }
            String next = Integer.toString(Integer.parseInt(present) + 1);
            writer.head(TextHead.of(next), length);
            writer.write(0, Unpooled.wrappedBuffer(TestStore.body(length, length)));
            writer.complete(length);
            // A writer that has stored fails as soon as the next object replaces its own, so this is not asked.
            if (!writer.isOvertaken()) {
                stored[number].incrementAndGet();
            }
        }
    }
}
