package io.millrace.store.disk;

import io.millrace.store.disk.segment.SegmentSummary;
import org.jspecify.annotations.Nullable;

/**
 * A segment that is about to be given up: its records, and what each of them is worth, 0 to {@link #PINNED_AND_READ}.
 *
 * <p>Confined to the volume's writer thread.
 */
final class ReclaimCandidate {
    /** Worth of a pinned record. */
    static final int PINNED = KeepPolicy.WORTH_MAX + 1;
    /** Worth of a pinned record that was read since it was put where it is. */
    static final int PINNED_AND_READ = PINNED + 1;

    private final int segment;
    private final long tag;
    private final SegmentSummary records;
    private final byte[] worth;
    private final boolean early;
    /** Bytes of it that are still to be carried early. */
    private long toLose;

    private long pinnedBytes;

    private int next;

    /** As the other, of a segment that is given up next. */
    ReclaimCandidate(int segment, long tag, SegmentSummary records) {
        this(segment, tag, records, 0);
    }

    /**
     * A segment of which nothing was looked at yet.
     *
     * @param toLose when its turn comes later: bytes of what is pinned in it that are carried before; else 0
     */
    ReclaimCandidate(int segment, long tag, SegmentSummary records, long toLose) {
        this.early = toLose > 0;
        this.toLose = toLose;
        this.segment = segment;
        this.tag = tag;
        this.records = records;
        this.worth = new byte[records.size()];
    }

    /** Whether its turn comes later. */
    boolean isEarly() {
        return early;
    }

    /** Whether this many more bytes may be carried early: a little more than was planned, at the end. */
    boolean mayLose(int bytes, long margin) {
        return toLose > 0 && bytes <= toLose + margin;
    }

    /** So many bytes are carried early. */
    void lose(int bytes) {
        toLose -= bytes;
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

    /** A record; null when its type is unknown. */
    SegmentSummary.@Nullable Entry entry(int n) {
        return records.entry(n);
    }

    int worth(int n) {
        return worth[n] & 0xFF;
    }

    void worth(int n, int value, int length) {
        worth[n] = (byte) value;
        pinnedBytes += value >= PINNED ? length : 0;
    }

    /** Bytes of the pinned records that were found. */
    long pinnedBytes() {
        return pinnedBytes;
    }

    /** The next record to look at; {@link #size} when all are done. */
    int next() {
        return next;
    }

    /** Done with the next record. */
    void advance() {
        next++;
    }

    /** Starts again from the first record. */
    void rewind() {
        next = 0;
    }
}
