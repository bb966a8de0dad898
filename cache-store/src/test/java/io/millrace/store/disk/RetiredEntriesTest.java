package io.millrace.store.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.index.HeapTables;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RetiredEntriesTest {
    private static final int OBJECTS = 1000;
    private static final int RECORD_BYTES = 256;
    private static final int SEGMENT_BYTES = OBJECTS * RECORD_BYTES;
    private static final long TAG = 0x77;

    private final MappedIndex index = HeapTables.small(0);
    private final RetiredEntries retired = new RetiredEntries(index, SEGMENT_BYTES);

    /** A tiny table evicts before it has grown, so it is grown first. */
    @BeforeEach
    void makeRoom() throws IOException {
        for (long i = 1; i <= 4 * OBJECTS; i++) {
            index.put(2, i * 0xD6E8_FEB8_6659_FD93L, Location.pack(1, 64, 128, TAG), 0);
        }
        while (index.step()) {
            // Waits until the table has its final size.
        }
        for (long i = 1; i <= 4 * OBJECTS; i++) {
            index.remove(2, i * 0xD6E8_FEB8_6659_FD93L);
        }
    }

    /** Returns a segment of objects that are in the index. */
    private SegmentSummary segment(int number, long firstHash) throws IOException {
        SegmentSummary records = new SegmentSummary();
        for (int i = 0; i < OBJECTS; i++) {
            byte[] key = ("k" + i).getBytes(StandardCharsets.US_ASCII);
            DiskKey diskKey = new DiskKey(key, 1, (firstHash + i) * 0x9E37_79B9_7F4A_7C15L);
            RecordHeader header = RecordHeader.complete(diskKey, i, 20, 0, 40);
            long offset = 64 + (long) i * RECORD_BYTES;
            records.add(header, offset);
            long at = Location.pack(number, offset, header.recordLength(), TAG);
            index.put(diskKey.hashHigh(), diskKey.hashLow(), at, 0);
        }
        return records;
    }

    @Test
    void eachRecordTakesOutAFewAndAllAreOutWhenHalfASegmentIsWritten() throws IOException {
        retired.add(3, TAG, segment(3, 0));
        assertEquals(OBJECTS, index.objects());
        int records = 0;
        for (long before = index.objects(); before > 0; before = index.objects()) {
            retired.pace(RECORD_BYTES);
            records++;
            assertTrue(before - index.objects() <= 18, "at once: " + (before - index.objects()));
        }
        assertTrue(records <= OBJECTS / 2, "records=" + records);
        assertFalse(retired.step(1));
    }

    @Test
    void aLongRecordTakesOutItsPart() throws IOException {
        retired.add(3, TAG, segment(3, 0));
        retired.pace(SEGMENT_BYTES / 4);
        assertEquals(OBJECTS / 2 - 16, index.objects());
    }

    @Test
    void theNextSegmentFindsThoseOfTheOneBeforeGone() throws IOException {
        retired.add(3, TAG, segment(3, 0));
        retired.pace(RECORD_BYTES);
        SegmentSummary next = segment(4, OBJECTS);
        retired.add(4, TAG, next);
        assertEquals(OBJECTS, index.objects());
        assertFalse(retired.step(OBJECTS));
        assertEquals(0, index.objects());
    }

    @Test
    void movedEntriesStay() throws IOException {
        SegmentSummary records = segment(3, 0);
        retired.add(3, TAG, records);
        SegmentSummary.Entry kept = records.entry(7);
        long elsewhere = Location.pack(5, 640, RECORD_BYTES, TAG);
        index.put(kept.hashHigh(), kept.hashLow(), elsewhere, 0);
        retired.step(OBJECTS);
        assertEquals(1, index.objects());
        assertEquals(elsewhere, index.find(kept.hashHigh(), kept.hashLow()));
    }
}
