package io.millrace.proxy.purge;

/**
 * The purge stamps of labels, which are cache groups or tags. A stamp is a number that increases with each purge.
 * The floor is a stamp that applies to every label. A full table raises the floor to the median of its stamps, and
 * removes the stamps below.
 *
 * <p>Any thread may read without a lock. Changes need the lock of the owner.
 */
final class LabelStamps {
    private final HashedStamps stamps;
    private volatile long hardFloor;
    private volatile long softFloor;

    /** Creates an empty table with a limit of stamps. */
    LabelStamps(int entriesMax) {
        stamps = new HashedStamps(entriesMax);
    }

    int size() {
        return stamps.size();
    }

    long bytes() {
        return stamps.bytes();
    }

    /** Returns the number of floors in force, 0 to 2. */
    int floors() {
        return (hardFloor > 0 ? 1 : 0) + (softFloor > 0 ? 1 : 0);
    }

    long floor(boolean softly) {
        return softly ? softFloor : hardFloor;
    }

    /** Returns true if any label has its own stamp of the given kind. */
    boolean hasAny(boolean softly) {
        return stamps.hasAny(softly);
    }

    long stamp(long hash, boolean softly) {
        return softly ? stamps.soft(hash) : stamps.hard(hash);
    }

    /** Returns true if a purge of one of these labels outdates a response whose fetch began under {@code stamp}. */
    boolean outdates(long[] hashes, long stamp, boolean softly) {
        if (hashes.length == 0) {
            return false;
        }
        if (stamps.hasAny(softly)) {
            for (long hash : hashes) {
                if (stamp < stamp(hash, softly)) {
                    return true;
                }
            }
        }
        return stamp < floor(softly);
    }

    /** Raises the stamp of a label. Returns false, without a change, if the table is full. */
    boolean raise(long hash, long stamp, boolean softly) {
        return stamps.raise(hash, stamp, softly);
    }

    /** See {@link HashedStamps#lowerSoft}. */
    void lowerSoft(long hash, long from, long to) {
        stamps.lowerSoft(hash, from, to);
    }

    /** See {@link HashedStamps#removeZeros}. */
    void removeZeros() {
        stamps.removeZeros();
    }

    void raiseFloor(long stamp, boolean softly) {
        if (softly) {
            softFloor = Math.max(softFloor, stamp);
        } else {
            hardFloor = Math.max(hardFloor, stamp);
        }
    }

    /** Removes stamps that the floors or purges of everything cover. */
    void forgetCovered(long hard, long soft) {
        long gone = Math.max(hard, hardFloor);
        softFloor = softFloor > gone ? softFloor : 0;
        stamps.forget(gone, Math.max(soft, softFloor));
    }

    boolean hasRoom() {
        return stamps.hasRoom();
    }

    /**
     * Raises the hard or soft floor to the median of the stamps of this kind. Returns the median; 0 if the floor
     * stays.
     */
    long raiseFloorToMedian(boolean softly) {
        long floor = stamps.median(softly);
        raiseFloor(floor, softly);
        return floor;
    }

    void forEach(boolean softly, StampTable.Visitor visitor) {
        stamps.forEach(softly, visitor);
    }
}
