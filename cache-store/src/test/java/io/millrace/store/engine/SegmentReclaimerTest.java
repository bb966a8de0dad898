package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.disk.Volume;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests which records are carried forward by reclaim. Closing the store checks every volume. */
class SegmentReclaimerTest {
    private static final int SEGMENT_BYTES = 128 * 1024;
    private static final int SEGMENTS = 16;
    private static final int COLD_BYTES = 6000;

    private final FaultyFileIo io = new FaultyFileIo();
    private TestStore test = open(io);
    private long cold;

    private static TestStore open(FaultyFileIo io) {
        return new TestStore(
                StoreConfig.builder()
                        .ramBytes(0)
                        .volumes(List.of(new VolumeConfig(Path.of("/volume"), (long) SEGMENT_BYTES * SEGMENTS)))
                        .segmentBytes(SEGMENT_BYTES)
                        .blockBytes(8192)
                        .diskAdmission(DiskAdmission.ALWAYS)
                        .ioThreads(1),
                io);
    }

    private StoreStatistics.Ring ring() {
        return test.store.statistics().volumes().get(0).ring();
    }

    /**
     * Writes objects that are never requested, as many as fill the log this many times. Reads the given ones four times
     * in each round.
     */
    private void rounds(int rounds, String... hot) {
        for (int quarter = 0; quarter < 4 * rounds; quarter++) {
            for (String key : hot) {
                assertNotNull(test.read(key), key);
            }
            coldQuarter();
        }
    }

    private void coldQuarter() {
        for (int bytes = 0; bytes < SEGMENT_BYTES * SEGMENTS / 4; bytes += COLD_BYTES) {
            assertTrue(test.put("cold" + cold, "cold", TestStore.body(cold, COLD_BYTES)));
            cold++;
        }
        test.sync();
    }

    @Test
    void readObjectsStayAndUnreadOnesAreReclaimed() {
        byte[] body = TestStore.body(1, 5000);
        byte[] large = TestStore.body(2, 50_000);
        test.put("hot", "head", body);
        test.put("large", "head", large);
        test.put("unread", "head", body);
        rounds(5, "hot", "large");
        assertArrayEquals(body, test.read("hot"));
        assertArrayEquals(large, test.read("large"));
        assertNull(test.head("unread"));
        StoreStatistics.Ring ring = ring();
        assertTrue(ring.bytesCarried() > 0 && ring.segmentsReclaimed() > 3 * SEGMENTS, ring::toString);
        assertTrue(ring.bytesCarried() < ring.bytesWritten() / 10, ring::toString);
        test.close();
    }

    @Test
    void unreadObjectsCostNothing() {
        rounds(4);
        assertEquals(0, ring().bytesCarried());
        test.close();
    }

    @Test
    void anObjectKeepsTheHeadItWasGivenLater() {
        byte[] body = TestStore.body(3, 5000);
        byte[] large = TestStore.body(4, 40_000);
        test.put("hot", "first", body);
        test.put("large", "first", large);
        test.sync();
        coldQuarter();
        test.update("hot", "second");
        test.update("large", "second");
        rounds(4, "hot", "large");
        assertEquals("second", test.head("hot"));
        assertEquals("second", test.head("large"));
        assertArrayEquals(body, test.read("hot"));
        assertArrayEquals(large, test.read("large"));
        test.close();
        test = open(io.afterReboot());
        assertEquals("second", test.head("hot"), "after the index was rebuilt");
        assertArrayEquals(large, test.read("large"));
        test.close();
    }

    @Test
    void expiredAndPurgedRecordsAreNotCarried() {
        ObjectWriter<TextHead> writer = test.store.create(test.key("expired"));
        writer.head(TextHead.of("expired", 1_000_000_000L), 5000);
        writer.write(0, Unpooled.wrappedBuffer(TestStore.body(5, 5000)));
        writer.complete(5000);
        test.put("purged", "head", TestStore.body(6, 5000));
        test.put("purged in blocks", "head", TestStore.body(7, 50_000));
        test.put("replaced", "head", TestStore.body(8, 50_000));
        test.sync();
        for (String key : List.of("expired", "purged", "purged in blocks", "replaced")) {
            assertNotNull(test.read(key), key);
        }
        assertTrue(test.remove("purged"));
        assertTrue(test.remove("purged in blocks"));
        test.put("replaced", "new head", TestStore.body(9, 100));
        rounds(2);
        for (String key : List.of("expired", "purged", "purged in blocks")) {
            assertNull(test.head(key), key);
        }
        assertTrue(ring().bytesCarried() < 1000, () -> "carried=" + ring());
        test.close();
    }

    @Test
    void noMoreIsCarriedThanLeavesRoomForNewOnes() {
        Random random = new Random(11);
        for (int i = 0; i < 3000; i++) {
            test.put("all" + i, "head", TestStore.body(i, 3000 + random.nextInt(10_000)));
            test.sync();
            // Each of them was requested, and will be requested again.
            for (int n = 0; n < 3; n++) {
                test.head("all" + Math.max(0, i - random.nextInt(400)));
                test.head("all" + i);
            }
        }
        StoreStatistics.Ring ring = ring();
        assertTrue(ring.bytesCarried() > ring.bytesWritten() / 4, ring::toString);
        assertTrue(ring.bytesCarried() <= ring.bytesWritten() * 0.82, ring::toString);
        assertNotNull(test.head("all2999"));
        test.close();
    }

    @Test
    void aReaderOfTheOldPlaceReadsOn() {
        byte[] body = TestStore.body(12, 60_000);
        test.put("held", "head", body);
        test.sync();
        StoredObject<TextHead> held = test.find("held");
        rounds(3, "held");
        assertArrayEquals(body, TestStore.readAll(held));
        held.release();
        assertArrayEquals(body, test.read("held"));
        test.close();
    }

    @Test
    void aKillInTheMiddleLosesNothingThatIsRead() {
        byte[] body = TestStore.body(13, 5000);
        FaultyFileIo now = io;
        test.put("hot", "head", body);
        for (int i = 0; i < 40; i++) {
            assertArrayEquals(body, test.read("hot"), "round " + i);
            // Not a whole number of segments, so that kills happen at all positions in a segment.
            for (int n = 0; n < 77; n++) {
                test.put("cold" + cold, "cold", TestStore.body(cold, COLD_BYTES));
                cold++;
            }
            test.sync();
            now.kill();
            test.abandon();
            now = now.afterKill();
            test = open(now);
        }
        assertArrayEquals(body, test.read("hot"));
        assertFalse(test.store.statistics().volumes().isEmpty());
        test.close();
    }

    @Test
    void aHeadThatIsWrittenWhileItsBodyIsCarriedFindsIt() {
        Random random = new Random(14);
        int objects = 16;
        for (int i = 0; i < objects; i++) {
            test.put("hot" + i, "0", TestStore.body(i, 5000));
        }
        test.sync();
        // Only small records, so that records are often carried forward before one of them is written.
        for (int n = 1; ring().segmentsReclaimed() < 2 * SEGMENTS; n++) {
            int i = random.nextInt(objects);
            StoredObject<TextHead> object = test.find("hot" + i);
            assertNotNull(object, "hot" + i + ", update " + n);
            test.store.update(object, TextHead.of("h".repeat(1000) + n));
            object.release();
            if (n % 8 == 0) {
                test.sync();
            }
        }
        test.sync();
        for (int i = 0; i < objects; i++) {
            assertArrayEquals(TestStore.body(i, 5000), test.read("hot" + i), "hot" + i);
        }
        test.close();
    }

    @Test
    void durableObjectsStayDurableWhenTheirSegmentIsOverwritten() throws Exception {
        byte[] body = TestStore.body(15, 5000);
        test.put("hot", "head", body);
        test.sync();
        for (int i = 0; i < 4; i++) {
            assertArrayEquals(body, test.read("hot"));
        }
        // The only I/O thread is blocked: only the volume's own thread can force the file.
        CountDownLatch end = new CountDownLatch(1);
        test.store.open(test.key("nothing"), Runnable::run, nothing -> TestStore.awaitLatch(end));
        Volume volume = ((StoreEngine<TextHead>) test.store).volumes().working(0);
        try {
            for (long turns = 0; turns < 2 * SEGMENTS; ) {
                assertTrue(test.put("cold" + cold, "cold", TestStore.body(cold, COLD_BYTES)));
                cold++;
                volume.drain();
                if (volume.segmentsReclaimed() > turns) {
                    turns = volume.segmentsReclaimed();
                    TestStore after =
                            open(io.copy().afterPowerLoss(new Random(turns))).toleratingDamage();
                    assertArrayEquals(body, after.read("hot"), "power lost after turn " + turns);
                    after.close();
                }
            }
        } finally {
            end.countDown();
        }
        test.close();
    }
}
