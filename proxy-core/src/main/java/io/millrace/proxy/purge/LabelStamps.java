package io.millrace.proxy.purge;

/**
 * Stamps of labels, such as cache groups or tags, and the floor that covers every label of the kind. A full table raises the
 * floor to the median of its stamps and forgets those below.
 *
 * <p>Read on any thread without a lock; changed under the lock of its owner.
 */
final class LabelStamps {
    private final HashedStamps stamps;
    private volatile long hardFloor;
    private volatile long softFloor;

    /** At most this many stamps. */
    LabelStamps(int entriesMax) {
        stamps = new HashedStamps(entriesMax);
    }

    int size() {
        return stamps.size();
    }

    long bytes() {
        return stamps.bytes();
    }

    /** Number of floors in force, 0 to 2. */
    int floors() {
        return (hardFloor > 0 ? 1 : 0) + (softFloor > 0 ? 1 : 0);
    }

    long floor(boolean softly) {
        return softly ? softFloor : hardFloor;
    }

    /** Whether any label has a stamp of its own. */
    boolean hasAny(boolean softly) {
        return stamps.hasAny(softly);
    }

    long stamp(long hash, boolean softly) {
        return softly ? stamps.soft(hash) : stamps.hard(hash);
    }

    /** Whether a purge of one of these labels outdates a response whose fetch began at {@code stamp}. */
    boolean outdate(long[] hashes, long stamp, boolean softly) {
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

    /** Raises a stamp; false when there is no room for one more. */
    boolean raise(long hash, long stamp, boolean softly) {
        return stamps.raise(hash, stamp, softly);
    }

    void raiseFloor(long stamp, boolean softly) {
        if (softly) {
            softFloor = Math.max(softFloor, stamp);
        } else {
            hardFloor = Math.max(hardFloor, stamp);
        }
    }

    /** Removes the stamps that wider invalidations or the floors cover. */
    void forgetCovered(long hard, long soft) {
        long gone = Math.max(hard, hardFloor);
        softFloor = softFloor > gone ? softFloor : 0;
        stamps.forget(gone, Math.max(soft, softFloor));
    }

    boolean hasRoom() {
        return stamps.hasRoom();
    }

    /** Raises a floor to the median of the stamps of that kind; returns it, 0 for none. */
    long raiseFloorToMedian(boolean softly) {
        long floor = stamps.middle(softly);
        raiseFloor(floor, softly);
        return floor;
    }

    void each(boolean softly, StampTable.Visitor visitor) {
        stamps.each(softly, visitor);
    }
}
