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
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests objects that are pinned until a time, with and without requests. Closing the store checks every volume. */
class PinnedObjectsTest {
    private static final int SEGMENT_BYTES = 128 * 1024;
    private static final int SEGMENTS = 16;
    private static final int COLD_BYTES = 6000;
    private static final long NOW = System.currentTimeMillis() / 1000;
    private static final long LATER = NOW + 100_000;
    private static final long PAST = NOW - 1000;

    private FaultyFileIo io = new FaultyFileIo();
    private TestStore test = open(DiskAdmission.ALWAYS, true);
    private long cold;

    private TestStore open(DiskAdmission admission, boolean honoured) {
        return new TestStore(
                StoreConfig.builder()
                        .ramBytes(0)
                        .volumes(List.of(new VolumeConfig(Path.of("/volume"), (long) SEGMENT_BYTES * SEGMENTS)))
                        .segmentBytes(SEGMENT_BYTES)
                        .blockBytes(8192)
                        .diskAdmission(admission)
                        .pinsHonoured(honoured)
                        .ioThreads(1),
                io);
    }

    private void reopen(FaultyFileIo with, boolean honoured) {
        io = with;
        test = open(DiskAdmission.ALWAYS, honoured);
    }

    private StoreStatistics.Ring ring() {
        return test.store.statistics().volumes().get(0).ring();
    }

    private boolean put(String key, TextHead head, byte[] body) {
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(head, body.length);
        for (int from = 0; from < body.length; from += 3000) {
            TestStore.awaitWritable(writer);
            writer.write(from, Unpooled.copiedBuffer(body, from, Math.min(3000, body.length - from)));
        }
        writer.complete(body.length);
        return !writer.isFailed();
    }

    private void update(String key, TextHead head) {
        StoredObject<TextHead> object = test.find(key);
        test.store.update(object, head);
        object.release();
    }

    /** Writes objects that are never requested, as many as fill the log this many times; requests nothing else. */
    private void turns(double turns) {
        long bytes = (long) (turns * SEGMENT_BYTES * SEGMENTS);
        for (long written = 0; written < bytes; written += COLD_BYTES) {
            assertTrue(test.put("cold" + cold, "cold", TestStore.body(cold, COLD_BYTES)));
            cold++;
        }
        test.sync();
    }

    @Test
    void expiredPinnedObjectsStayWithoutReads() {
        put("small", TextHead.pinned("small", LATER), TestStore.body(1, 5000));
        put("large", TextHead.pinned("large", LATER), TestStore.body(2, 50_000));
        put("empty", TextHead.pinned("empty", LATER), new byte[0]);
        turns(4);
        assertArrayEquals(TestStore.body(1, 5000), test.read("small"));
        assertArrayEquals(TestStore.body(2, 50_000), test.read("large"));
        assertEquals("empty", test.head("empty"));
        assertEquals(0, ring().pinsBroken());
        test.close();
    }

    @Test
    void aPinThatHasEndedKeepsNothing() {
        put("small", new TextHead("small", LATER, PAST), TestStore.body(1, 5000));
        put("large", new TextHead("large", LATER, PAST), TestStore.body(2, 50_000));
        turns(2);
        assertNull(test.head("small"));
        assertNull(test.head("large"));
        assertEquals(0, ring().bytesCarried());
        assertEquals(0, ring().pinsBroken());
        assertEquals(0, ring().bytesPinned());
        test.close();
    }

    @Test
    void removedAndReplacedObjectsAreNotPinned() {
        for (String key : List.of("removed", "replaced", "removed in blocks", "replaced in blocks")) {
            put(key, TextHead.pinned("pinned", LATER), TestStore.body(3, key.endsWith("blocks") ? 20_000 : 5000));
        }
        turns(1.5);
        assertTrue(test.remove("removed"));
        assertTrue(test.remove("removed in blocks"));
        test.put("replaced", "new", TestStore.body(4, 100));
        test.put("replaced in blocks", "new", TestStore.body(4, 20_000));
        test.sync();
        long carried = ring().bytesCarried();
        turns(3);
        assertNull(test.head("removed"));
        assertNull(test.head("removed in blocks"));
        assertNull(test.head("replaced"));
        assertNull(test.head("replaced in blocks"));
        assertEquals(carried, ring().bytesCarried());
        assertEquals(0, ring().pinsBroken());
        test.close();
    }

    @Test
    void thePinOfANewHeadOverridesTheRecordOfTheBody() {
        put("renewed", TextHead.pinned("first", PAST), TestStore.body(5, 5000));
        put("renewed in blocks", TextHead.pinned("first", PAST), TestStore.body(6, 50_000));
        put("let go", TextHead.pinned("first", LATER), TestStore.body(7, 5000));
        test.sync();
        turns(0.2);
        update("renewed", TextHead.pinned("second", LATER));
        update("renewed in blocks", TextHead.pinned("second", LATER));
        update("let go", TextHead.of("second", LATER));
        turns(4);
        assertEquals("second", test.head("renewed"));
        assertArrayEquals(TestStore.body(5, 5000), test.read("renewed"));
        assertArrayEquals(TestStore.body(6, 50_000), test.read("renewed in blocks"));
        assertNull(test.head("let go"));
        test.close();
    }

    /** The record of the body expires before its segment is reclaimed; its newer head does not. */
    @Test
    void anObjectThatWasFreshenedIsKeptByItsNewExpiry() {
        put("hot", TextHead.of("first", PAST), TestStore.body(8, 5000));
        test.sync();
        turns(0.2);
        update("hot", TextHead.of("second"));
        for (int quarter = 0; quarter < 12; quarter++) {
            assertArrayEquals(TestStore.body(8, 5000), test.read("hot"), "quarter " + quarter);
            turns(0.25);
        }
        test.close();
    }

    @Test
    void pinsSurviveARestartAKillAndARebuildOfTheIndex() {
        put("small", TextHead.pinned("small", LATER), TestStore.body(9, 5000));
        put("large", TextHead.pinned("large", LATER), TestStore.body(10, 50_000));
        turns(1.3);
        test.close();
        reopen(io, true);
        turns(1.3);
        FaultyFileIo dead = io;
        dead.kill();
        test.abandon();
        reopen(dead.afterKill(), true);
        turns(1.3);
        test.close();
        reopen(io.afterReboot(), true);
        assertEquals("small", test.head("small"), "after the index was rebuilt");
        turns(1.3);
        assertArrayEquals(TestStore.body(9, 5000), test.read("small"));
        assertArrayEquals(TestStore.body(10, 50_000), test.read("large"));
        assertEquals(0, ring().pinsBroken());
        test.close();
    }

    @Test
    void aPartialObjectsBlocksStayWithItsHead() {
        byte[] body = TestStore.body(11, 100_000);
        ObjectWriter<TextHead> writer = test.store.create(test.key("part"));
        writer.head(TextHead.pinned("part", LATER), body.length);
        writer.allowPartial();
        writer.write(16_384, Unpooled.copiedBuffer(body, 16_384, 40_960));
        writer.keep();
        turns(3);
        StoredObject<TextHead> object = test.find("part");
        assertNotNull(object);
        assertTrue(object.hasRange(16_384, 40_960));
        assertFalse(object.isComplete());
        object.release();
        test.close();
    }

    @ParameterizedTest
    @EnumSource(DiskAdmission.class)
    void aFullVolumeStoresPinnedObjects(DiskAdmission admission) {
        turns(1.5);
        test.close();
        test = open(admission, true);
        // Writes until the policy has learned that the log is full.
        for (int i = 0; i < 60; i++) {
            test.put("more" + i, "cold", TestStore.body(i, COLD_BYTES));
        }
        test.sync();
        assertTrue(put("small", TextHead.pinned("small", LATER), TestStore.body(12, 5000)));
        assertTrue(put("large", TextHead.pinned("large", LATER), TestStore.body(13, 50_000)));
        boolean unpinned = put("unpinned", TextHead.of("unpinned"), TestStore.body(14, 50_000));
        assertEquals(admission != DiskAdmission.SECOND_HIT, unpinned || admission == DiskAdmission.FREQUENCY);
        test.sync();
        assertEquals("small", test.head("small"));
        assertEquals("large", test.head("large"));
        test.close();
    }

    /** As if a site was fetched once and pinned: whole consecutive segments are pinned. */
    @ParameterizedTest
    @ValueSource(ints = {3000, 40_000})
    void aRunOfPinnedObjectsLosesNothingWhereTheRingHasRoom(int length) {
        turns(0.2);
        int pinned = 5 * SEGMENT_BYTES / length;
        for (int i = 0; i < pinned; i++) {
            assertTrue(put("pinned" + i, TextHead.pinned("pinned", LATER), TestStore.body(i, length)));
        }
        test.sync();
        turns(6);
        assertEquals(0, ring().pinsBroken(), () -> ring().toString());
        for (int i = 0; i < pinned; i++) {
            assertArrayEquals(TestStore.body(i, length), test.read("pinned" + i), "pinned" + i);
        }
        // Each pass through the log copies the pinned objects once, and the scattered ones once more.
        assertTrue(ring().bytesCarried() < 12L * 5 * SEGMENT_BYTES, () -> ring().toString());
        test.close();
    }

    @Test
    void moreThanMayBeCarriedBreaksPinsAndStallsNoWriter() {
        int pinned = (int) (1.5 * SEGMENTS * SEGMENT_BYTES / COLD_BYTES);
        for (int i = 0; i < pinned; i++) {
            assertTrue(put("pinned" + i, TextHead.pinned("pinned", LATER), TestStore.body(i, COLD_BYTES)));
        }
        test.sync();
        turns(2);
        StoreStatistics.Ring ring = ring();
        assertTrue(ring.pinsBroken() > 0, ring::toString);
        assertTrue(ring.bytesCarried() <= 0.82 * ring.bytesWritten(), ring::toString);
        long left = 0;
        for (int i = 0; i < pinned; i++) {
            left += test.head("pinned" + i) == null ? 0 : 1;
        }
        assertEquals(pinned, left + ring.pinsBroken());
        assertTrue(left * COLD_BYTES > 0.6 * SEGMENTS * SEGMENT_BYTES, "left=" + left);
        test.close();
    }

    @Test
    void requestedObjectsOutliveOtherPins() {
        put("asked", TextHead.pinned("asked", LATER), TestStore.body(20, 5000));
        for (int i = 0; i < 2 * SEGMENTS * SEGMENT_BYTES / COLD_BYTES; i++) {
            if (i % 50 == 0) {
                assertEquals("asked", test.head("asked"), "after " + i);
            }
            put("pinned" + i, TextHead.pinned("pinned", LATER), TestStore.body(i, COLD_BYTES));
            test.sync();
        }
        assertTrue(ring().pinsBroken() > 0);
        assertEquals("asked", test.head("asked"));
        test.close();
    }

    @Test
    void ignoredPinsAreStoredNevertheless() {
        put("first", TextHead.pinned("first", LATER), TestStore.body(21, 5000));
        test.close();
        reopen(io, false);
        put("second", TextHead.pinned("second", LATER), TestStore.body(22, 5000));
        test.sync();
        test.close();
        reopen(io, true);
        turns(2);
        assertEquals("first", test.head("first"));
        assertEquals("second", test.head("second"));
        test.close();
        reopen(io, false);
        turns(2);
        assertNull(test.head("first"));
        assertNull(test.head("second"));
        assertEquals(0, ring().pinsBroken());
        test.close();
    }

    @Test
    void purgedObjectsAreNotKeptForTheirPin() {
        test.store.pinCheck((key, head) -> !head.text().equals("useless"));
        for (String key : List.of("useless", "useless in blocks", "useless since", "useful")) {
            put(
                    key,
                    TextHead.pinned(key.split(" ", 2)[0].equals("useful") ? "useful" : "useless", LATER),
                    TestStore.body(25, key.endsWith("blocks") ? 20_000 : 5000));
        }
        put("useless since", TextHead.pinned("useful", LATER), TestStore.body(25, 5000));
        test.sync();
        turns(0.2);
        update("useless since", TextHead.pinned("useless", LATER));
        turns(3);
        assertEquals("useful", test.head("useful"));
        assertNull(test.head("useless"));
        assertNull(test.head("useless in blocks"));
        assertNull(test.head("useless since"));
        assertEquals(0, ring().pinsBroken());
        assertTrue(ring().bytesPinned() < 6000, ring()::toString);
        test.close();
    }

    @Test
    void bytesOfPinnedRecordsAreKnownAfterARestart() throws Exception {
        put("small", TextHead.pinned("small", LATER), TestStore.body(23, 5000));
        put("large", TextHead.pinned("large", LATER), TestStore.body(24, 50_000));
        turns(0.5);
        long pinned = ring().bytesPinned();
        assertTrue(pinned > 55_000 && pinned < 60_000, "bytes=" + pinned);
        turns(2);
        // Pinned objects that were carried forward are counted at the new place, and no longer at the old one.
        assertTrue(Math.abs(pinned - ring().bytesPinned()) <= 256);
        pinned = ring().bytesPinned();
        test.close();
        reopen(io, true);
        long deadline = System.nanoTime() + 30_000_000_000L;
        while (ring().bytesPinned() < pinned && System.nanoTime() < deadline) {
            ((StoreEngine<TextHead>) test.store).volumes().working(0).drain();
        }
        assertEquals(pinned, ring().bytesPinned());
        test.close();
    }

    /** Purged objects take no space from valid pins: both together would not fit. */
    @Test
    void purgedObjectsBreakNoOtherPin() {
        test.store.pinCheck((key, head) -> !head.text().equals("useless"));
        for (int i = 0; i < 17; i++) {
            put("useless" + i, TextHead.pinned("useless", LATER), TestStore.body(i, COLD_BYTES));
        }
        for (int i = 0; i < 3; i++) {
            put("useful" + i, TextHead.pinned("useful", LATER), TestStore.body(i, COLD_BYTES));
        }
        test.sync();
        for (int i = 0; i < 17; i++) {
            assertEquals("useless", test.head("useless" + i));
        }
        turns(1.5);
        for (int i = 0; i < 3; i++) {
            assertEquals("useful", test.head("useful" + i), "useful" + i + " of " + ring());
        }
        test.close();
    }
}
