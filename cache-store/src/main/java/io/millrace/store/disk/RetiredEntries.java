package io.millrace.store.disk;

import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import org.jspecify.annotations.Nullable;

/**
 * Takes the entries of a segment that was given up out of the index, a little at a time: a segment of small objects has
 * many. Until then nobody finds them, as their segment's tag is not in use any more.
 *
 * <p>Confined to the volume's thread.
 */
final class RetiredEntries {
    /** Entries for each record appended, besides its part of all by its length. */
    private static final int AT_LEAST = 16;
    /** How much sooner than the next segment is full they are all out. */
    private static final int HASTE = 2;

    private final MappedIndex index;
    private final int segmentBytes;
    private @Nullable SegmentSummary records;
    private int segment;
    private long tag;
    private int next;

    RetiredEntries(MappedIndex index, int segmentBytes) {
        this.index = index;
        this.segmentBytes = segmentBytes;
    }

    /** The segment was given up; what is left of the one before goes at once. */
    void add(int newSegment, long oldTag, SegmentSummary itsRecords) {
        step(Integer.MAX_VALUE);
        segment = newSegment;
        tag = oldTag;
        records = itsRecords;
        next = 0;
    }

    /** Does its part before a record of that length is appended. */
    void pace(int recordLength) {
        SegmentSummary left = records;
        if (left != null) {
            step(AT_LEAST + (int) ((long) left.size() * recordLength * HASTE / segmentBytes));
        }
    }

    /** Goes on by this many entries; false when none is left. */
    boolean step(int count) {
        SegmentSummary left = records;
        if (left == null) {
            return false;
        }
        int end = (int) Math.min(left.size(), (long) next + count);
        for (; next < end; next++) {
            SegmentSummary.Entry entry = left.entry(next);
            if (entry != null) {
                index.removeIf(
                        entry.hashHigh(), entry.hashLow(), Location.pack(segment, entry.offset(), entry.length(), tag));
            }
        }
        if (next == left.size()) {
            records = null;
        }
        return records != null;
    }
}
