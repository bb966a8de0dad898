package io.millrace.store.engine.object;

import io.millrace.store.StoredObject;

/**
 * The operations on stored objects that only the store uses.
 *
 * @param <H> the decoded head
 */
public interface StoreObject<H> extends StoredObject<H> {
    /** Volume number of an object that is in RAM only. */
    int NO_VOLUME = -1;

    /** Returns the object's id: unique in the store, and unchanged when the head is replaced. */
    long objectId();

    /** Returns the number of the object's volume, or {@link #NO_VOLUME}. */
    int volume();

    /** Returns the location from which the record was read, 0 if it was not read. */
    long location();

    /**
     * Returns a new handle of this object with another head. The caller releases the handle.
     *
     * @param headBytes heap bytes that the head retains
     */
    StoreObject<H> withHead(H newHead, int headBytes);

    /** Adds a reference. Returns false if the last reference was already released. */
    boolean tryRetain();
}
