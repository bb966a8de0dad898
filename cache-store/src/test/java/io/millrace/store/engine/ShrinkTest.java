package io.millrace.store.engine;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.io.FaultyFileIo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Tests volumes whose configured size changes. */
class ShrinkTest {
    private static final Path VOLUME = Path.of("/volume0");
    private static final Path FILE = VOLUME.resolve("volume");
    private static final long AT_2_MIB = (64 << 10) + (2L << 20);
    private static final int OBJECTS = 800;
    /** At least this many of the newest objects fit into 2 MiB, less two segments for the log. */
    private static final int FITTING = 150;

    /** A volume of 4 MiB that has wrapped, after a power failure; its whole content is on the device. */
    private static FaultyFileIo full;

    private static TestStore open(FaultyFileIo io, int mebibytes) {
        return new TestStore(StoreContractTest.volumes(mebibytes).ramBytes(0), io);
    }

    private static int length(int i) {
        return i % 20 == 3 ? 30_000 : 4000 + i * 5;
    }

    @BeforeAll
    static void fill() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io, 4)) {
            for (int i = 0; i < OBJECTS; i++) {
                assertTrue(test.put("k" + i, "h" + i, TestStore.body(i, length(i))));
                if (i % 10 == 5) {
                    // The body stays in its segment, and the head is written to a later segment.
                    test.sync();
                    test.update("k" + (i - 4), "h" + (i - 4));
                }
                if (i % 10 == 7) {
                    test.remove("k" + (i - 5));
                }
            }
        }
        full = io;
    }

    private static boolean isRemoved(int i) {
        return i % 10 == 2;
    }

    /** Checks that present objects are correct, removed ones are absent, and the newest ones are all present. */
    private static void verify(TestStore test, String context) {
        int oldest = OBJECTS;
        for (int i = OBJECTS - 1; i >= 0; i--) {
            String head = wholeHead(test, "k" + i);
            if (isRemoved(i)) {
                assertNull(head, context + ": k" + i + " was removed");
            } else if (head != null) {
                assertEquals("h" + i, head, context);
                assertArrayEquals(TestStore.body(i, length(i)), test.read("k" + i), context);
                oldest = i;
            } else {
                assertTrue(i < OBJECTS - FITTING, context + ": k" + i + " is missing");
            }
        }
        assertTrue(oldest <= OBJECTS - FITTING, context + ": oldest " + oldest);
    }

    /** Returns the head of an object with all its blocks; the oldest objects may have lost some blocks. */
    private static String wholeHead(TestStore test, String key) {
        StoredObject<TextHead> object = test.find(key);
        if (object == null) {
            return null;
        }
        try {
            return object.isComplete() ? object.head().text() : null;
        } finally {
            object.release();
        }
    }

    private static void awaitCut(FaultyFileIo io) {
        await().until(() -> io.isDead() || io.length(FILE) == AT_2_MIB);
    }

    @Test
    void aFullVolumeThatShrinksKeepsTheNewest() {
        FaultyFileIo io = full.afterKill();
        try (TestStore test = open(io, 2)) {
            awaitCut(io);
            verify(test, "shrunk");
            StoreStatistics.Volume volume = test.store.statistics().volumes().get(0);
            assertEquals(2 << 20, volume.bytesMax());
            assertEquals(0, volume.errors());
        }
        try (TestStore test = open(io, 2)) {
            verify(test, "opened again");
            for (int i = 0; i < 300; i++) {
                if (!test.put("later" + i, "l", TestStore.body(i, 9000))) {
                    // All memory for fills is waiting to be written.
                    test.sync();
                    assertTrue(test.put("later" + i, "l", TestStore.body(i, 9000)));
                }
            }
            test.sync();
            assertEquals("l", test.head("later299"));
        }
        assertEquals(AT_2_MIB, io.length(FILE));
    }

    @Test
    void aVolumeThatShrinksBelowItsEmptyPartLosesNothing() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io, 8)) {
            for (int i = 0; i < 50; i++) {
                test.put("k" + i, "h", TestStore.body(i, 20_000));
            }
        }
        try (TestStore test = open(io, 2)) {
            awaitCut(io);
            for (int i = 0; i < 50; i++) {
                assertArrayEquals(TestStore.body(i, 20_000), test.read("k" + i));
            }
        }
    }

    @Test
    void isTruncatedOnlyWithoutReadersBeyondTheEnd() {
        FaultyFileIo io = full.afterKill();
        TestStore old = open(io, 4).withoutCheck();
        List<StoredObject<TextHead>> reading = new ArrayList<>();
        for (int i = 3; i < OBJECTS; i += 100) {
            StoredObject<TextHead> object = old.find("k" + i);
            if (object != null) {
                reading.add(object);
            }
        }
        try {
            old.store.suspendWrites();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try (TestStore successor = open(io, 2)) {
            for (int i = 0; i < 40; i++) {
                successor.put("new" + i, "n", TestStore.body(i, 20_000));
            }
            successor.sync();
            for (StoredObject<TextHead> object : reading) {
                int i = Integer.parseInt(object.head().text().substring(1));
                assertArrayEquals(TestStore.body(i, length(i)), TestStore.readAll(object));
                assertTrue(io.length(FILE) > AT_2_MIB);
            }
            reading.forEach(StoredObject::release);
            old.close();
            awaitCut(io);
            assertEquals("n", successor.head("new39"));
        }
    }

    @Test
    void writesContinueWhileItShrinks() {
        FaultyFileIo io = full.afterKill();
        try (TestStore test = open(io, 2)) {
            for (int i = 0; i < 100; i++) {
                assertTrue(test.put("new" + i, "n", TestStore.body(i, 6000)));
            }
            test.sync();
            awaitCut(io);
            for (int i = 0; i < 100; i++) {
                assertArrayEquals(TestStore.body(i, 6000), test.read("new" + i));
            }
        }
    }

    @Test
    void aVolumeThatGrowsKeepsItsIndex() {
        FaultyFileIo io = full.afterKill();
        try (TestStore test = open(io, 16)) {
            // Otherwise the volume would be OPENING for a while, with another file.
            assertEquals(
                    StoreStatistics.State.ONLINE,
                    test.store.statistics().volumes().get(0).state());
            for (int i = 0; i < 500; i++) {
                assertTrue(test.put("new" + i, "n", TestStore.body(i, 20_000)));
            }
            test.sync();
            verify(test, "grown");
        }
    }

    @RepeatedTest(20)
    void mayBeKilledAtAnyWrite(RepetitionInfo repetition) throws IOException {
        int seed = repetition.getCurrentRepetition();
        Random random = new Random(seed);
        FaultyFileIo io = full.afterKill();
        io.killAfterWrites(seed * 5L - random.nextInt(5), random);
        TestStore test = null;
        try {
            test = open(io, 2).withoutCheck();
            awaitCut(io);
        } catch (UncheckedIOException e) {
            assertTrue(io.isDead(), "seed " + seed);
        }
        boolean cut = !io.isDead();
        boolean power = random.nextBoolean();
        FaultyFileIo next = power ? io.afterPowerLoss(random) : io.afterKill();
        if (test != null) {
            test.abandon();
        }
        boolean again = random.nextBoolean();
        String context = "seed " + seed + " cut=" + cut + " power=" + power + " again=" + again;
        try (TestStore reopened = open(next, again ? 2 : 4).toleratingDamage()) {
            if (again) {
                awaitCut(next);
            }
            verify(reopened, context);
        }
        try (TestStore rebuilt = open(next.afterReboot(), again ? 2 : 4).toleratingDamage()) {
            verify(rebuilt, context + ", opened once more");
        }
        assertFalse(next.length(FILE) < AT_2_MIB, context);
    }
}
