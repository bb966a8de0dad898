package io.millrace.store.disk;

import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import org.jspecify.annotations.Nullable;

/**
 * The index entries of a reclaimed segment, removed a few at a time. A segment of small objects has too many to remove
 * at once. Lookups do not find them meanwhile, because the tag of their segment is no longer in use.
 *
 * <p>Confined to the volume's thread.
 */
final class RetiredEntries {
    /** Entries removed per appended record, in addition to the share that corresponds to its length. */
    private static final int AT_LEAST = 16;
    /** Speed factor of the removal. With 2, all entries are removed when half of the next segment is written. */
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

    /** Adds the entries of a reclaimed segment; removes the rest of the previous segment immediately. */
    void add(int newSegment, long oldTag, SegmentSummary itsRecords) {
        step(Integer.MAX_VALUE);
        segment = newSegment;
        tag = oldTag;
        records = itsRecords;
        next = 0;
    }

    /** Removes a share of the entries before a record of that length is appended. */
    void pace(int recordLength) {
        SegmentSummary left = records;
        if (left != null) {
            step(AT_LEAST + (int) ((long) left.size() * recordLength * HASTE / segmentBytes));
        }
    }

    /** Removes up to this number of entries; false if none are left. */
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
