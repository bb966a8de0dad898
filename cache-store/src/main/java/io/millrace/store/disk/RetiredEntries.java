package io.millrace.store.disk;

import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import org.jspecify.annotations.Nullable;

/**
 * The index entries of a reclaimed segment, removed in small batches.
 *
 * <p>A segment of small objects has too many entries to remove at once. Lookups ignore the entries that remain, because
 * each use of a segment has a new random tag, and an entry contains a part of the tag.
 *
 * <p>Confined to the volume's thread.
 */
final class RetiredEntries {
    /**
     * Minimum number of entries removed per appended record. For a longer record more entries are removed, in
     * proportion to its length.
     */
    private static final int BATCH_MIN = 16;
    /** Speed factor of the removal. With 2, all entries are removed when half of the next segment is written. */
    private static final int REMOVAL_SPEED = 2;

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

    /** Adds the entries of a reclaimed segment; first removes all remaining entries of the previous segment. */
    void add(int newSegment, long oldTag, SegmentSummary newRecords) {
        step(Integer.MAX_VALUE);
        segment = newSegment;
        tag = oldTag;
        records = newRecords;
        next = 0;
    }

    /** Removes a batch of entries before a record of {@code recordLength} bytes is appended. */
    void pace(int recordLength) {
        SegmentSummary left = records;
        if (left != null) {
            step(BATCH_MIN + (int) ((long) left.size() * recordLength * REMOVAL_SPEED / segmentBytes));
        }
    }

    /** Removes up to {@code count} entries. Returns false if no entries are left. */
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
