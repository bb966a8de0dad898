package io.millrace.store.engine.object;

import io.millrace.store.index.Location;

/**
 * The id of an object, its volume, and the place of its record in the volume.
 *
 * @param objectId id of the object, unchanged when its head is replaced
 * @param volume number of the object's volume, or {@link StoreObject#NO_VOLUME}
 * @param sequence sequence of the object's record, 0 if the object has no record yet
 * @param location location from which the record was read, {@link Location#NONE} if it was not read
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
