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

    /** Returns the id of the representation: unique in the store, unchanged by a new head. */
    long objectId();

    /** Returns the number of the object's volume, or {@link #NO_VOLUME}. */
    int volume();

    /** Returns the location from which the record was read, 0 if it was not read. */
    long location();

    /**
     * Returns the same representation with another head, which the caller releases.
     *
     * @param headBytes heap bytes that the head retains
     */
    StoreObject<H> withHead(H newHead, int headBytes);

    /** Adds a reference unless the last one was released. */
    boolean tryRetain();
}
