package io.millrace.store.engine.object;

import io.millrace.store.index.Location;

/**
 * Which representation an object is and where its record is.
 *
 * @param objectId id of the representation
 * @param volume number of its volume, or {@link StoreObject#NO_VOLUME}
 * @param sequence of its record, 0 when it has none yet
 * @param location of its record when it was read, {@link Location#NONE} when it was not
 */
public record ObjectPlace(long objectId, int volume, long sequence, long location) {
    /** A new object that has no record yet. */
    public static ObjectPlace unwritten(long objectId, int volume) {
        return new ObjectPlace(objectId, volume, 0, Location.NONE);
    }

    /** Whether it is known to have no record yet. */
    boolean isUnwritten() {
        return sequence == 0 && location == Location.NONE;
    }
}
