package io.millrace.proxy.purge;

import java.util.Arrays;

/**
 * The purge stamps of hosts, URLs or labels, by a 64-bit hash. A stamp is a number that increases with each
 * purge. Hard stamps (responses are gone) and soft stamps (responses are stale) have separate tables, because few
 * hashes have both.
 *
 * <p>Any thread may read without a lock. Changes need the lock of the owner.
 */
final class HashedStamps {
    private final int entriesMax;
    private final StampTable hard = new StampTable();
    private final StampTable soft = new StampTable();
    /** True if a stamp was lowered to 0, so that {@link #removeZeros} must remove it. */
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

    /** Returns true if there is any stamp of the given kind. */
    boolean hasAny(boolean softly) {
        return (softly ? soft : hard).size() > 0;
    }

    /** Returns the size on the heap in bytes. */
    long bytes() {
        return hard.bytes() + soft.bytes();
    }

    /** Raises the stamp of a hash. Returns false, without a change, if the table is full. */
    boolean raise(long hash, long stamp, boolean softly) {
        StampTable table = softly ? soft : hard;
        if (size() >= entriesMax && table.stamp(hash) == 0) {
            return false;
        }
        table.raise(hash, stamp);
        return true;
    }

    /**
     * Lowers a soft stamp from {@code from} to {@code to}, for an undo. Has no effect if the stamp has another value.
     * {@link #removeZeros} removes stamps of 0.
     */
    void lowerSoft(long hash, long from, long to) {
        soft.lower(hash, from, to);
        hasZeros |= to == 0;
    }

    /** Removes the stamps that were lowered to 0. */
    void removeZeros() {
        if (hasZeros) {
            soft.forget(0);
            hasZeros = false;
        }
    }

    /**
     * Removes stamps that a purge of a wider scope covers. The wider stamp must be set before, so that a reader always
     * finds one of the two.
     *
     * @param hardUpTo highest stamp to remove, hard or soft; 0 for none
     * @param softUpTo highest soft stamp to remove, if it is higher than {@code hardUpTo}; 0 for none
     */
    void forget(long hardUpTo, long softUpTo) {
        hard.forget(hardUpTo);
        soft.forget(Math.max(hardUpTo, softUpTo));
    }

    /** Returns true if at least a quarter of the table, and at least one entry, is free. */
    boolean hasRoom() {
        return size() < entriesMax && size() <= entriesMax / 4 * 3;
    }

    /** Returns the median of the stamps of the given kind. Returns 0 if they fill less than a quarter of the table. */
    long median(boolean softly) {
        StampTable table = softly ? soft : hard;
        long[] stamps = new long[table.size()];
        int[] count = {0};
        table.forEach((hash, stamp) -> stamps[count[0]++] = stamp);
        Arrays.sort(stamps);
        return stamps.length == 0 || stamps.length < entriesMax / 4 ? 0 : stamps[(stamps.length - 1) / 2];
    }

    /** Visits all stamps of the given kind. */
    void forEach(boolean softly, StampTable.Visitor visitor) {
        (softly ? soft : hard).forEach(visitor);
    }
}
