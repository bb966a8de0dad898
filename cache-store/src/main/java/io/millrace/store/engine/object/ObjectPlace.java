package io.millrace.store.engine.object;

import io.millrace.store.index.Location;

/**
 * The id of an object's representation and the place of its record.
 *
 * @param objectId id of the representation
 * @param volume number of its volume, or {@link StoreObject#NO_VOLUME}
 * @param sequence sequence of its record, 0 if it has none yet
 * @param location location from which its record was read, {@link Location#NONE} if it was not read
 */
public record ObjectPlace(long objectId, int volume, long sequence, long location) {
    /** Creates the place of a new object without a record. */
    public static ObjectPlace unwritten(long objectId, int volume) {
        return new ObjectPlace(objectId, volume, 0, Location.NONE);
    }

    /** Returns true if the object is known to have no record yet. */
    boolean isUnwritten() {
        return sequence == 0 && location == Location.NONE;
    }
}
