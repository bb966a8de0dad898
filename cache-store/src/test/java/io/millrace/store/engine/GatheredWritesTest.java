package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.VolumeConfig.DirectWrites;
import io.millrace.store.io.FaultyFileIo;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that objects which wait for the volume's thread at the same time are written as one batch. */
class GatheredWritesTest {
    private static final Path VOLUME = Path.of("/volume");
    private static final int OBJECTS = 40;

    private final long seed = System.nanoTime();
    private final FaultyFileIo io = new FaultyFileIo();

    private static TestStore open(FaultyFileIo io, DirectWrites direct) {
        return new TestStore(
                StoreConfig.builder()
                        .volumes(List.of(new VolumeConfig(VOLUME, 4 << 20).with(direct)))
                        .diskAdmission(DiskAdmission.ALWAYS)
                        .segmentBytes(128 * 1024)
                        .blockBytes(16 * 1024)
                        .ramBytes(0),
                io);
    }

    /** Stores the objects while the volume's thread is blocked. */
    private void putTogether(TestStore test, Runnable before) {
        for (int i = 0; i < OBJECTS; i++) {
            assertTrue(test.put("k" + i, "old", TestStore.body(1000 + i, 300)));
        }
        test.sync();
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        io.beforeNextWrite(VOLUME, () -> {
            held.countDown();
            TestStore.awaitLatch(go);
        });
        // The only object in the queue is written at once, and blocks in that write.
        assertTrue(test.put("first", "h", TestStore.body(0, 10)));
        TestStore.awaitLatch(held);
        for (int i = 0; i < OBJECTS; i++) {
            assertTrue(test.put("k" + i, "new", TestStore.body(i, 500 + i)));
            assertEquals("new", test.head("k" + i), "not written yet, and found");
        }
        before.run();
        go.countDown();
    }

    private static void assertAllBut(TestStore test, List<Integer> missing, long seed) {
        for (int i = 0; i < OBJECTS; i++) {
            if (missing.contains(i)) {
                assertNull(test.read("k" + i), "k" + i + ", seed=" + seed);
            } else {
                assertArrayEquals(TestStore.body(i, 500 + i), test.read("k" + i), "k" + i + ", seed=" + seed);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"OFF", "ON"})
    void theyTakeFarFewerWritesThanTheyAre(DirectWrites direct) {
        try (TestStore test = open(io, direct)) {
            putTogether(test, () -> io.failWritesNumbered(VOLUME, new Random(seed)));
            test.sync();
            assertTrue(io.writesCounted() <= 8, () -> "writes=" + io.writesCounted());
            assertEquals(direct == DirectWrites.ON, io.directWrites() > 0, () -> "direct=" + io.directWrites());
            assertAllBut(test, List.of(), seed);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"OFF", "ON"})
    void theySurviveTheProcess(DirectWrites direct) {
        TestStore test = open(io, direct);
        putTogether(test, () -> {});
        test.sync();
        FaultyFileIo next = io.afterKill();
        test.abandon();
        try (TestStore again = open(next, direct)) {
            assertAllBut(again, List.of(), seed);
        }
    }

    @ParameterizedTest
    @CsvSource({"OFF, 2", "ON, 2", "ON, 3", "ON, 4"})
    void aFailedWriteIsTriedRecordByRecord(DirectWrites direct, int write) {
        try (TestStore test = open(io, direct)) {
            putTogether(test, () -> io.failWritesNumbered(VOLUME, new Random(seed), write));
            test.sync();
            assertAllBut(test, List.of(), seed);
            assertEquals(1, test.store.statistics().volumes().get(0).errors());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"OFF", "ON"})
    void onlyTheRecordThatCannotBeWrittenIsLost(DirectWrites direct) {
        FaultyFileIo next;
        TestStore test = open(io, direct);
        // After the blocked write: first all objects as one batch, then the third one and the last one alone.
        putTogether(test, () -> io.failWritesNumbered(VOLUME, new Random(seed), 2, 5, OBJECTS + 2));
        test.sync();
        assertAllBut(test, List.of(2, OBJECTS - 1), seed);
        test.sync();
        next = io.afterReboot();
        test.abandon();
        try (TestStore again = open(next, direct)) {
            awaitWhole(again);
            assertAllBut(again, List.of(2, OBJECTS - 1), seed);
        }
    }

    private void awaitDead() {
        while (!io.isDead()) {
            Thread.onSpinWait();
        }
    }

    /** Waits for the end of the rebuild: until then the lookup of an absent key is not answered. */
    private static void awaitWhole(TestStore test) {
        assertNull(test.read("never stored"));
    }

    /** A batch with direct writes is three writes: its first bytes, its whole blocks, and its last bytes. */
    @ParameterizedTest
    @CsvSource({"OFF, 1", "ON, 1", "ON, 2", "ON, 3"})
    void aKilledWriteLosesNothingThatWasThereBefore(DirectWrites direct, int write) {
        TestStore test = open(io, direct);
        putTogether(test, () -> io.killAfterWrites(write, new Random(seed)));
        awaitDead();
        FaultyFileIo next = io.afterKill();
        test.abandon();
        try (TestStore again = open(next, direct).toleratingDamage()) {
            IntStream.range(0, OBJECTS).forEach(i -> {
                String head = again.head("k" + i);
                byte[] body = again.read("k" + i);
                if ("new".equals(head)) {
                    assertTrue(
                            body == null || java.util.Arrays.equals(body, TestStore.body(i, 500 + i)),
                            () -> "k" + i + ", seed=" + seed);
                } else if (body != null) {
                    assertArrayEquals(TestStore.body(1000 + i, 300), body, () -> "k" + i + ", seed=" + seed);
                }
            });
        }
    }
}
