package io.millrace.proxy.purge;

import java.util.Arrays;

/**
 * The newest hard and the newest soft stamp of each 64-bit hash, in two tables, because few hashes have both.
 *
 * <p>Read on any thread without a lock; changed under the lock of its owner.
 */
final class HashedStamps {
    private final int entriesMax;
    private final StampTable hard = new StampTable();
    private final StampTable soft = new StampTable();
    /** Whether {@link #sweep} would find a stamp to remove. */
    private boolean hasZeros;

    /** Creates an empty table with a limit of stamps. */
    HashedStamps(int entriesMax) {
        this.entriesMax = entriesMax;
    }

    /** Returns the newest hard stamp; 0 for none. */
    long hard(long hash) {
        return hard.stamp(hash);
    }

    /** Returns the newest soft stamp; 0 for none. */
    long soft(long hash) {
        return soft.stamp(hash);
    }

    /** Returns the number of stamps, hard and soft. */
    int size() {
        return hard.size() + soft.size();
    }

    /** Returns whether there are hard or soft stamps. */
    boolean hasAny(boolean softly) {
        return (softly ? soft : hard).size() > 0;
    }

    /** Returns the size on the heap in bytes. */
    long bytes() {
        return hard.bytes() + soft.bytes();
    }

    /** Raises a stamp; returns false if the table is full. */
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
        hasZeros |= to == 0;
    }

    /** Removes the stamps that were lowered to 0. */
    void sweep() {
        if (hasZeros) {
            soft.forget(0);
            hasZeros = false;
        }
    }

    /**
     * Removes the stamps that wider stamps cover. The wider stamps must be set before, so that a reader always finds
     * one of the two.
     *
     * @param hardUpTo highest hard stamp to remove; 0 for none
     * @param softUpTo highest soft stamp to remove; 0 for none
     */
    void forget(long hardUpTo, long softUpTo) {
        hard.forget(hardUpTo);
        soft.forget(Math.max(hardUpTo, softUpTo));
    }

    /** Returns whether a quarter of the table is free, and one entry at least. */
    boolean hasRoom() {
        return size() < entriesMax && size() <= entriesMax / 4 * 3;
    }

    /** Returns the median of the hard or soft stamps; 0 if they fill less than a quarter of the table. */
    long middle(boolean softly) {
        StampTable table = softly ? soft : hard;
        long[] stamps = new long[table.size()];
        int[] count = {0};
        table.each((hash, stamp) -> stamps[count[0]++] = stamp);
        Arrays.sort(stamps);
        return stamps.length == 0 || stamps.length < entriesMax / 4 ? 0 : stamps[(stamps.length - 1) / 2];
    }

    /** Visits the hard or soft stamps. */
    void each(boolean softly, StampTable.Visitor visitor) {
        (softly ? soft : hard).each(visitor);
    }
}
