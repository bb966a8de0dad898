package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.VolumeScrub;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.io.FaultyFileIo;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tests that damage is found before a request for the damaged object. The test sets the clock. */
class ScrubberTest {
    private static final Path FILE = Path.of("/volume0/volume");
    private static final int OBJECTS = 60;
    private static final long RATE = 100_000;

    private final FaultyFileIo io = new FaultyFileIo();
    private final StoreCounters counters = new StoreCounters();
    private final AtomicLong clock = new AtomicLong(1_000_000_000);

    private TestStore store() {
        return new TestStore(StoreContractTest.volumes(4).ramBytes(0), io).withoutCheck();
    }

    private Scrubber scrubber(TestStore test) {
        StoreEngine<?> engine = (StoreEngine<?>) test.store;
        Scrubber scrubber = new Scrubber(engine.volumes(), null, null, counters, clock::get);
        scrubber.rate(RATE);
        return scrubber;
    }

    private static void fill(TestStore test) {
        for (int i = 0; i < OBJECTS; i++) {
            test.put("k" + i, "h" + i, TestStore.body(i, i % 5 == 0 ? 30_000 : 4000));
            if (i % 7 == 0) {
                test.sync();
                test.update("k" + i, "u" + i);
            }
        }
        test.sync();
    }

    /** Scrubs until nothing is due; returns the nanoseconds that the scrub would have taken. */
    private static long round(TestStore test, Scrubber scrubber) {
        long idle = TimeUnit.SECONDS.toNanos(10);
        long all = 0;
        for (long pause = scrubber.slice(); pause != idle; pause = scrubber.slice()) {
            assertTrue(pause <= TimeUnit.SECONDS.toNanos(Scrubber.SLICE_BYTES) / RATE, () -> "one slice");
            all += pause;
            test.sync();
        }
        return all;
    }

    private void damage(int body, int length) {
        long at = io.find(FILE, java.util.Arrays.copyOf(TestStore.body(body, length), 500));
        assertTrue(at > 0);
        io.flipBit(FILE, at * 8 + 77);
    }

    @Test
    void damagedRecordsAreDroppedAndTheRestStays() {
        try (TestStore test = store()) {
            fill(test);
            // A whole object, a block, and a body with a replaced head.
            damage(1, 4000);
            damage(5, 30_000);
            damage(14, 4000);
            Scrubber scrubber = scrubber(test);
            round(test, scrubber);
            StoreStatistics.Counters snapshot = counters.snapshot(0);
            assertEquals(3, snapshot.recordsDamagedByScrub());
            assertTrue(snapshot.bytesScrubbed() > OBJECTS * 4000, snapshot::toString);
            assertEquals(0, test.store.statistics().volumes().get(0).errors());
            for (int i = 0; i < OBJECTS; i++) {
                boolean gone = i == 1 || i == 14;
                String head = (i % 7 == 0 ? "u" : "h") + i;
                assertEquals(gone ? null : head, test.head("k" + i));
            }
            // Without the block it is a partial object.
            StoredObject<TextHead> part = test.find("k5");
            assertFalse(part.isComplete());
            part.release();
            assertEquals(0, test.store.statistics().counters().recordsDamaged(), "nobody came across it");
        }
        // The tombstones remain valid after a rebuild.
        FaultyFileIo next = io.afterReboot();
        next.flipBit(Path.of("/volume0/index"), 3);
        try (TestStore test = new TestStore(StoreContractTest.volumes(4).ramBytes(0), next).withoutCheck()) {
            assertNull(test.head("k1"));
            assertEquals("h2", test.head("k2"));
        }
    }

    @Test
    void eachByteIsReadOnceADayAtTheRateAlsoAfterARestart() {
        try (TestStore test = store()) {
            fill(test);
            Scrubber scrubber = scrubber(test);
            long nanos = round(test, scrubber);
            long bytes = counters.snapshot(0).bytesScrubbed();
            assertEquals((double) bytes, nanos / 1e9 * RATE, bytes / 100.0);
            assertEquals(0, round(test, scrubber), "all of it was read today");
            clock.addAndGet(VolumeScrub.AGAIN_SECONDS - 1);
            assertEquals(0, round(test, scrubber));
        }
        try (TestStore test = store()) {
            assertEquals(0, round(test, scrubber(test)), "and the store knows after a restart");
            clock.addAndGet(1);
            assertTrue(round(test, scrubber(test)) > 0);
            Scrubber off = scrubber(test);
            off.rate(0);
            clock.addAndGet(VolumeScrub.AGAIN_SECONDS);
            assertEquals(TimeUnit.SECONDS.toNanos(10), off.slice());
        }
    }

    @Test
    void aSegmentThatCannotBeReadIsOneErrorOfItsVolume() {
        try (TestStore test = store()) {
            fill(test);
            io.failReads(true, Path.of("/volume0"));
            Scrubber scrubber = scrubber(test);
            scrubber.slice();
            io.failReads(false, Path.of("/volume0"));
            StoreStatistics.Volume volume = test.store.statistics().volumes().get(0);
            assertEquals(1, volume.errors());
            assertEquals(StoreStatistics.State.ONLINE, volume.state());
            round(test, scrubber);
            assertFalse(counters.snapshot(0).bytesScrubbed() == 0);
            for (int i = 0; i < OBJECTS; i++) {
                assertEquals((i % 7 == 0 ? "u" : "h") + i, test.head("k" + i));
            }
        }
    }
}
