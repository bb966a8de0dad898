package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Tests disks that are full, fail, or return wrong bytes. */
class StoreFaultTest {
    private static final Path VOLUME = Path.of("/volume0");

    @Test
    void aFullDiskFailsTheWriterAndNothingElse() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(4).ramBytes(0), io)) {
            test.put("before", "b", TestStore.body(1, 1000));
            test.sync();
            io.failWrites(true, VOLUME);
            ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
            writer.head(TextHead.of("h"), 40_000);
            for (int from = 0; from < 40_000; from += 4000) {
                writer.write(from, Unpooled.wrappedBuffer(new byte[4000]));
                TestStore.awaitWritable(writer);
            }
            writer.complete(40_000);
            // The last blocks may still be queued when the object completes. Until they fail, the object is found.
            drain(test);
            assertNull(test.find("a"));
            assertEquals("b", test.head("before"));
            io.failWrites(false, VOLUME);
            assertTrue(test.put("a", "again", TestStore.body(2, 1000)));
            test.sync();
            assertEquals("again", test.head("a"));
            assertTrue(test.store.statistics().volumes().get(0).errors() > 0);
        }
    }

    private static void drain(TestStore test) {
        CompletableFuture<Void> drained = new CompletableFuture<>();
        test.store.remove(test.key("drain"), Runnable::run, (present, failure) -> drained.complete(null));
        TestStore.await(drained);
        try {
            test.store.sync();
        } catch (java.io.IOException e) {
            // The force fails too; every queued write was tried.
        }
    }

    /** The older head may claim a longer lifetime, or other variants, than the newer one. */
    @Test
    void anObjectWhoseHeadCannotBeReplacedIsNotFound() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(4).ramBytes(0), io)) {
            test.put("a", "first", TestStore.body(1, 1000));
            test.put("b", "other", TestStore.body(2, 1000));
            test.sync();
            StoredObject<TextHead> found = test.find("a");
            assertNotNull(found);
            test.update("a", "second");
            test.sync();
            io.failReads(true, VOLUME);
            test.store.update(found, TextHead.of("third"));
            drain(test);
            io.failReads(false, VOLUME);
            found.release();
            assertNull(test.head("a"));
            assertEquals("other", test.head("b"));
            assertEquals(1, test.store.statistics().counters().writesFailed());
        }
    }

    @Test
    void aRemovalThatCannotBeWrittenIsInForceAndReported() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(4).ramBytes(0), io)) {
            test.put("a", "h", TestStore.body(1, 1000));
            test.sync();
            io.failWrites(true, VOLUME);
            CompletableFuture<Exception> failure = new CompletableFuture<>();
            test.store.remove(test.key("a"), Runnable::run, (present, e) -> failure.complete(e));
            assertNotNull(TestStore.await(failure));
            assertNull(test.find("a"));
            io.failWrites(false, VOLUME);
            // The pending tombstone is written with the next record.
            test.put("b", "h", TestStore.body(2, 10));
            test.sync();
        }
        FaultyFileIo next = io.afterReboot();
        next.flipBit(VOLUME.resolve("index"), 3);
        try (TestStore test = new TestStore(StoreContractTest.volumes(4).ramBytes(0), next)) {
            assertEquals("h", test.head("b"));
            assertNull(test.find("a"));
        }
    }

    @Test
    void aVolumeThatKeepsFailingIsRemovedAndTheOthersContinue() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(1 << 20), io).withoutCheck()) {
            for (int i = 0; i < 40; i++) {
                test.put("k" + i, "old", TestStore.body(i, 1000));
            }
            test.sync();
            io.failWrites(true, VOLUME);
            for (int i = 0; i < 200; i++) {
                test.put("x" + i, "x", TestStore.body(i, 1000));
            }
            drain(test);
            assertEquals(
                    StoreStatistics.State.OFFLINE,
                    test.store.statistics().volumes().get(0).state());
            assertEquals(
                    StoreStatistics.State.ONLINE,
                    test.store.statistics().volumes().get(1).state());
            io.failWrites(false, VOLUME);
            assertTrue(test.put("later", "l", TestStore.body(7, 50_000)));
            assertArrayEquals(TestStore.body(7, 50_000), test.read("later"));
            for (int i = 0; i < 40; i++) {
                test.remove("k" + i);
            }
        }
        // The volume missed the removals while it was offline.
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io)) {
            for (int i = 0; i < 40; i++) {
                assertNull(test.find("k" + i));
            }
            assertEquals("l", test.head("later"));
        }
    }

    @Test
    void withoutAnyVolumeLeftItIsAStoreInRam() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(1 << 20), io).withoutCheck()) {
            io.failWrites(true, VOLUME);
            for (int i = 0; i < 50; i++) {
                test.put("x" + i, "x", TestStore.body(i, 1000));
                drain(test);
            }
            assertEquals(
                    StoreStatistics.State.OFFLINE,
                    test.store.statistics().volumes().get(0).state());
            assertTrue(test.put("a", "h", TestStore.body(1, 1000)));
            assertArrayEquals(TestStore.body(1, 1000), test.read("a"));
            assertTrue(test.remove("a"));
            assertFalse(test.store.contains(test.key("a")));
        }
    }

    @Test
    void theLastVolumeGoneByReadErrorsLeavesAStoreThatPassesOn() {
        FaultyFileIo io = new FaultyFileIo();
        StoreConfig.Builder config = StoreContractTest.volumes(2).ramBytes(0).ramObjectBytesMax(0);
        try (TestStore test = new TestStore(config, io).withoutCheck()) {
            for (int i = 0; i < 20; i++) {
                assertTrue(test.put("k" + i, "h", TestStore.body(i, 1000)));
            }
            test.sync();
            io.failReads(true, VOLUME);
            for (int i = 0; i < 20; i++) {
                assertNull(test.find("k" + i));
            }
            StoreStatistics.Volume volume = test.store.statistics().volumes().get(0);
            assertEquals(StoreStatistics.State.OFFLINE, volume.state());
            assertEquals(Volume.ERRORS_IN_A_ROW_MAX, volume.errors());
            io.failReads(false, VOLUME);
            assertFalse(test.store.contains(test.key("k1")));
            assertFalse(test.put("new", "h", TestStore.body(1, 1000)));
            assertNull(test.find("new"));
            assertFalse(test.remove("k1"));
        }
        // The volume may have missed removals while it was offline.
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            assertNull(test.find("k1"));
            assertTrue(test.put("k1", "again", TestStore.body(1, 1000)));
            assertEquals("again", test.head("k1"));
        }
    }

    @Test
    void aVolumeThatCannotBeOpenedIsLeftOut() {
        FaultyFileIo io = new FaultyFileIo();
        io.failWrites(true, VOLUME);
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io).withoutCheck()) {
            StoreStatistics.Volume out = test.store.statistics().volumes().get(0);
            assertEquals(StoreStatistics.State.OFFLINE, out.state());
            assertTrue(out.lastError().contains("No space left"), out::lastError);
            assertTrue(test.put("a", "h", TestStore.body(1, 20_000)));
            assertArrayEquals(TestStore.body(1, 20_000), test.read("a"));
        }
    }

    @Test
    void readErrorsAreMisses() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            test.put("a", "h", TestStore.body(1, 1000));
            test.sync();
            io.failReads(true, VOLUME);
            assertNull(test.open(test.key("a")));
            io.failReads(false, VOLUME);
            assertEquals("h", test.head("a"));
        }
    }

    @RepeatedTest(30)
    void flippedBitsAndCutFilesNeverGiveAWrongByte(RepetitionInfo repetition) {
        long seed = repetition.getCurrentRepetition();
        Random random = new Random(seed);
        FaultyFileIo io = new FaultyFileIo();
        int objects = 200;
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            for (int i = 0; i < objects; i++) {
                test.put("k" + i, "h" + i, TestStore.body(i, i % 7 == 0 ? 30_000 : 1500));
                if (i % 5 == 0) {
                    test.sync();
                    test.update("k" + i, "u" + i);
                }
            }
        }
        FaultyFileIo next = random.nextBoolean() ? io.afterKill() : io.afterReboot();
        for (String file : new String[] {"volume", "index"}) {
            long bits = next.length(VOLUME.resolve(file)) * 8;
            for (int i = 0; i < 300; i++) {
                // Either copy of the superblock may be damaged; with both damaged, the volume starts empty.
                next.flipBit(VOLUME.resolve(file), (long) (random.nextDouble() * bits));
            }
            if (random.nextInt(3) == 0) {
                next.truncate(VOLUME.resolve(file), (long) (random.nextDouble() * bits / 8));
            }
        }
        TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), next).withoutCheck();
        try (test) {
            for (int i = 0; i < objects; i++) {
                StoredObject<TextHead> object = test.find("k" + i);
                if (object != null) {
                    checkBytes(object, i, seed);
                }
            }
        }
    }

    private static void checkBytes(StoredObject<TextHead> object, int i, long seed) {
        try {
            String head = object.head().text();
            assertTrue(head.equals("h" + i) || head.equals("u" + i), () -> "seed " + seed + ": " + head);
            byte[] body = TestStore.readAll(object);
            assertTrue(Arrays.equals(TestStore.body(i, i % 7 == 0 ? 30_000 : 1500), body), () -> "seed " + seed);
        } catch (UncheckedIOException e) {
            // The damage must be reported.
        } finally {
            object.release();
        }
    }

    /**
     * Returns the store after a reboot without an index. The bytes of one body or head are damaged, and no other record
     * contains them.
     */
    private static TestStore rebuiltWithout(FaultyFileIo io, byte[] damaged) throws java.io.IOException {
        FaultyFileIo next = io.afterReboot();
        Path file = Path.of("/volume0/volume");
        next.flipBit(file, next.find(file, damaged) * 8);
        next.delete(Path.of("/volume0/index"));
        return new TestStore(StoreContractTest.volumes(2).ramBytes(0), next).withoutCheck();
    }

    @Test
    void theReplacedObjectIsFoundInPlaceOfATornOne() throws java.io.IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            test.put("a", "first", TestStore.body(1, 3000));
            test.put("b", "first", TestStore.body(2, 3000));
            test.sync();
            test.put("a", "second", TestStore.body(3, 3000));
            test.sync();
        }
        try (TestStore test = rebuiltWithout(io, java.util.Arrays.copyOf(TestStore.body(3, 3000), 50))) {
            assertEquals("first", test.head("a"));
            assertArrayEquals(TestStore.body(1, 3000), test.read("a"));
            assertEquals("first", test.head("b"));
            test.store.close();
            // Torn records remain. The index rightly refers to an older record.
            test.toleratingDamage().check();
        }
    }

    @Test
    void theHeadBeforeATornOneCountsAgain() throws java.io.IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            test.put("a", "first", TestStore.body(1, 3000));
            test.sync();
            test.update("a", "the second head");
            test.sync();
        }
        try (TestStore test =
                rebuiltWithout(io, "the second head".getBytes(java.nio.charset.StandardCharsets.ISO_8859_1))) {
            assertEquals("first", test.head("a"));
            assertArrayEquals(TestStore.body(1, 3000), test.read("a"));
        }
    }

    @Test
    void notBehindATombstone() throws java.io.IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            test.put("a", "first", TestStore.body(1, 3000));
            test.remove("a");
            test.put("a", "second", TestStore.body(3, 3000));
            test.sync();
        }
        try (TestStore test = rebuiltWithout(io, java.util.Arrays.copyOf(TestStore.body(3, 3000), 50))) {
            assertNull(test.find("a"));
        }
    }
}
