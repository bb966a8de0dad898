package io.millrace.store.disk;

import org.jspecify.annotations.Nullable;

/**
 * A segment that is about to be given up: its records, and what each of them is worth, 0 to {@link #PINNED_AND_READ}.
 *
 * <p>Confined to the volume's writer thread.
 */
final class Victim {
    /** Worth of a pinned record. */
    static final int PINNED = KeepPolicy.WORTH_MAX + 1;
    /** Worth of a pinned record that was read since it was put where it is. */
    static final int PINNED_AND_READ = PINNED + 1;

    private final int segment;
    private final long tag;
    private final SegmentSummary records;
    private final byte[] worth;
    private int next;

    Victim(int segment, long tag, SegmentSummary records) {
        this.segment = segment;
        this.tag = tag;
        this.records = records;
        this.worth = new byte[records.size()];
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

    void worth(int n, int value) {
        worth[n] = (byte) value;
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
