package io.millrace.store.disk;

import io.millrace.store.disk.segment.SegmentSummary;
import org.jspecify.annotations.Nullable;

/**
 * A segment that is reclaimed soon, with a rating of each of its records. A rating is from 0 to
 * {@link #PINNED_AND_READ}. A pinned record belongs to an object that the volume keeps until a given time. The
 * {@link SegmentReclaimer} copies (carries) the records with the highest ratings to the active segment.
 *
 * <p>Confined to the volume's writer thread.
 */
final class ReclaimCandidate {
    /** Rating of a pinned record. */
    static final int PINNED = KeepPolicy.RATING_MAX + 1;
    /** Rating of a pinned record that was read since it was written. */
    static final int PINNED_AND_READ = PINNED + 1;

    private final int segment;
    /** Tag of the segment: a random number, new for each use of the segment. */
    private final long tag;

    private final SegmentSummary records;
    private final byte[] ratings;
    private final boolean early;
    /** Bytes of pinned records that are still to be carried early: before the segment is due for reclaim. */
    private long earlyBytesLeft;

    private long pinnedBytes;

    private int next;

    /** Creates a candidate without ratings, for the segment that is reclaimed next. */
    ReclaimCandidate(int segment, long tag, SegmentSummary records) {
        this(segment, tag, records, 0);
    }

    /**
     * Creates a candidate without ratings.
     *
     * @param earlyBytesLeft bytes of pinned records to carry early; 0 for the segment that is reclaimed next
     */
    ReclaimCandidate(int segment, long tag, SegmentSummary records, long earlyBytesLeft) {
        this.early = earlyBytesLeft > 0;
        this.earlyBytesLeft = earlyBytesLeft;
        this.segment = segment;
        this.tag = tag;
        this.records = records;
        this.ratings = new byte[records.size()];
    }

    /** Returns true if the segment is reclaimed later, and some of its pinned records are carried early. */
    boolean isEarly() {
        return early;
    }

    /**
     * Returns true if a record of this length may be carried early; the last record may exceed the planned bytes by
     * {@code margin}.
     */
    boolean mayCarryEarly(int bytes, long margin) {
        return earlyBytesLeft > 0 && bytes <= earlyBytesLeft + margin;
    }

    /** Counts bytes that are carried early. */
    void carriedEarly(int bytes) {
        earlyBytesLeft -= bytes;
    }

    int segment() {
        return segment;
    }

    long tag() {
        return tag;
    }

    int size() {
        return records.size();
    }

    /** Returns a record; null if its type is unknown. */
    SegmentSummary.@Nullable Entry entry(int n) {
        return records.entry(n);
    }

    /** Returns the rating of record {@code n}. */
    int rating(int n) {
        return ratings[n] & 0xFF;
    }

    /** Sets the rating of record {@code n}, which has {@code length} bytes. */
    void rating(int n, int value, int length) {
        ratings[n] = (byte) value;
        pinnedBytes += value >= PINNED ? length : 0;
    }

    /** Returns the bytes of the records that were rated as pinned so far. */
    long pinnedBytes() {
        return pinnedBytes;
    }

    /** Returns the number of the next record to process; {@link #size} after the last one. */
    int next() {
        return next;
    }

    /** Advances to the next record. */
    void advance() {
        next++;
    }

    /** Returns to the first record. */
    void rewind() {
        next = 0;
    }
}
