package io.millrace.proxy.purge;

import java.util.Arrays;

/**
 * Stamps by 64-bit hash: of each the newest hard and the newest soft one. Hard and soft stamps lie apart, as few hashes have both.
 *
 * <p>Read on any thread without a lock; changed under the lock of its owner.
 */
final class HashedStamps {
    private final int entriesMax;
    private final StampTable hard = new StampTable();
    private final StampTable soft = new StampTable();

    /** At most this many stamps. */
    HashedStamps(int entriesMax) {
        this.entriesMax = entriesMax;
    }

    /** The newest hard stamp, 0 for none. */
    long hard(long hash) {
        return hard.stamp(hash);
    }

    /** The newest soft stamp, 0 for none. */
    long soft(long hash) {
        return soft.stamp(hash);
    }

    /** Stamps, hard and soft ones. */
    int size() {
        return hard.size() + soft.size();
    }

    /** Whether there are any of that kind. */
    boolean hasAny(boolean softly) {
        return (softly ? soft : hard).size() > 0;
    }

    /** Bytes of heap. */
    long bytes() {
        return hard.bytes() + soft.bytes();
    }

    /** Raises a stamp; false when there is no room for one more. */
    boolean raise(long hash, long stamp, boolean softly) {
        StampTable table = softly ? soft : hard;
        if (size() >= entriesMax && table.stamp(hash) == 0) {
            return false;
        }
        table.raise(hash, stamp);
        return true;
    }

    /** Lowers a soft stamp if it is unchanged; 0 means none, and {@link #sweep} removes it. */
    void lowerSoft(long hash, long from, long to) {
        soft.lower(hash, from, to);
    }

    /** Removes the stamps that were lowered to 0. */
    void sweep() {
        soft.forget(0);
    }

    /**
     * Takes out the stamps that wider ones cover, which must be in force already: a reader that finds nothing here finds those.
     *
     * @param hardUpTo hard stamps up to this one, 0 for none
     * @param softUpTo soft stamps up to this one, 0 for none
     */
    void forget(long hardUpTo, long softUpTo) {
        hard.forget(hardUpTo);
        soft.forget(Math.max(hardUpTo, softUpTo));
    }

    /** Whether a quarter is free, and one entry at least. */
    boolean hasRoom() {
        return size() < entriesMax && size() <= entriesMax / 4 * 3;
    }

    /** The stamp that half of the hard or soft stamps do not exceed; 0 when these are less than a quarter of the table. */
    long middle(boolean softly) {
        StampTable table = softly ? soft : hard;
        long[] stamps = new long[table.size()];
        int[] count = {0};
        table.each((hash, stamp) -> stamps[count[0]++] = stamp);
        Arrays.sort(stamps);
        return stamps.length == 0 || stamps.length < entriesMax / 4 ? 0 : stamps[(stamps.length - 1) / 2];
    }

    /** Visits the stamps of that kind. */
    void each(boolean softly, StampTable.Visitor visitor) {
        (softly ? soft : hard).each(visitor);
    }
}
