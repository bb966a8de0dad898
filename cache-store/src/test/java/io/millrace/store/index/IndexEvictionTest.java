package io.millrace.store.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IndexEvictionTest {
    private static final int SHIFT = 7;
    /** Number of filled slots from which on an entry is evicted: 13/16 of all. */
    private static final int FULL = 104;
    /** No expiry soon. */
    private static final int FRESH = -1;

    private final HeapTables tables = new HeapTables(0, true);

    /** All hashes of a test have the same home slot, so that they collide. */
    private static long low(int n) {
        return (long) n << SHIFT;
    }

    private static long location(int segment) {
        return Location.pack(segment, 64, 128, 7);
    }

    private MappedIndex full() throws IOException {
        MappedIndex index = HeapTables.index(tables, SHIFT);
        index.shiftMax(SHIFT);
        for (int n = 0; n < FULL; n++) {
            index.put(n, low(n), location(500 + n), FRESH);
        }
        assertEquals(0, index.evictions());
        return index;
    }

    private void assertEvicts(MappedIndex index, int victim) throws IOException {
        index.put(999, low(999), location(1000), FRESH);
        assertEquals(location(1000), index.find(999, low(999)));
        assertEquals(1, index.evictions());
        assertEquals(FULL, index.objects());
        for (int n = 0; n < FULL; n++) {
            assertEquals(n == victim ? Location.NONE : location(500 + n), index.find(n, low(n)), "entry " + n);
        }
    }

    @Test
    void theOldestSegmentGoes() throws IOException {
        MappedIndex index = full();
        index.segmentAges(location -> location == location(512) ? 3 : Location.segment(location));
        assertEvicts(index, 12);
    }

    @Test
    void hitEntriesStay() throws IOException {
        MappedIndex index = full();
        index.segmentAges(Location::segment);
        for (int n = 0; n < 16; n++) {
            if (n != 11) {
                index.hit(n, low(n));
            }
        }
        assertEvicts(index, 11);
    }

    @Test
    void expiredEntriesAreEvictedFirst() throws IOException {
        MappedIndex index = full();
        index.put(9, low(9), location(509), 1000, 3);
        // A block has no expiry.
        index.putBlock(8, low(8), location(508));
        index.put(9, low(9), location(509), 1000, 3);
        index.putBlock(8, low(8), location(508), 3);
        index.put(999, low(999), location(1000), FRESH);
        assertEquals(Location.NONE, index.find(9, low(9)));
        assertEquals(location(508), index.find(8, low(8)));
    }

    @Test
    void entriesWithoutARecordAreEvictedBeforeAllOthers() throws IOException {
        MappedIndex index = full();
        index.segmentAges(location -> location == location(510) ? -1 : 5);
        index.put(9, low(9), location(509), 1000);
        index.put(10, low(10), location(510), FRESH, 3);
        assertEvicts(index, 10);
    }

    @Test
    void tombstonesOfARebuildStayAndEndItInstead() throws IOException {
        MappedIndex index = HeapTables.rebuilding(tables, SHIFT);
        index.shiftMax(SHIFT);
        for (int n = 0; n < FULL; n++) {
            if (n == 40) {
                index.put(n, low(n), location(500 + n), FRESH);
            } else {
                index.putTombstone(n, low(n), location(500 + n));
            }
        }
        assertTrue(index.putOlder(40, low(40), location(1), FRESH, false, false));
        index.put(999, low(999), location(1000), FRESH);
        assertEquals(1, index.evictions());
        // Evicted keys may have older records, so no further record is accepted.
        assertEquals(Location.NONE, index.find(40, low(40)));
        index.remove(5, low(5));
        assertFalse(index.putOlder(40, low(40), location(1), FRESH, false, false));
        index.putTombstone(5, low(5), location(505));
        index.putTombstone(999, low(999), location(505));
        IOException refused = assertThrows(IOException.class, () -> index.put(1000, low(1000), location(1000), FRESH));
        assertTrue(refused.getMessage().contains("full of tombstones"), refused::toString);
        index.maskRecords(1000, low(1000));
        index.finishRebuild();
        assertEquals(0, index.objects());
        index.put(1000, low(1000), location(1000), FRESH);
        assertEquals(location(1000), index.find(1000, low(1000)));
    }

    @Test
    void aRebuildWithoutSpaceOmitsOlderObjects() throws IOException {
        MappedIndex index = HeapTables.rebuilding(tables, SHIFT);
        index.shiftMax(SHIFT);
        int entered = 0;
        while (index.putOlder(entered, entered, location(entered), FRESH, false, false)) {
            entered++;
        }
        assertEquals(FULL, entered);
        index.remove(0, 0);
        assertFalse(index.putOlder(0, 0, location(0), FRESH, false, false));
        assertEquals(0, index.evictions());
        index.finishRebuild();
        assertEquals(FULL - 1, index.objects());
    }

    @Test
    void aFullTableStaysQuickForYears() throws IOException {
        tables.fails = true;
        MappedIndex index = HeapTables.index(tables, 12);
        Random random = new Random(17);
        long most = 0;
        long sum = 0;
        for (int step = 0; step < 200_000; step++) {
            long low = random.nextLong();
            long before = tables.accesses();
            index.put(low, low, location(1), FRESH);
            index.find(low + 1, low + 1);
            most = Math.max(most, tables.accesses() - before);
            sum += tables.accesses() - before;
            if (step % 3 == 0) {
                index.remove(low, low);
            }
        }
        assertTrue(index.evictions() > 100_000);
        assertTrue(index.objects() > 3000, "objects " + index.objects());
        assertTrue(most < 4000, "accesses " + most);
        assertTrue(sum / 200_000 < 400, "accesses on average " + sum / 200_000);
    }
}
