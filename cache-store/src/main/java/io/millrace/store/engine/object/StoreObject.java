package io.millrace.store.engine.object;

import io.millrace.store.StoredObject;

/**
 * What the store itself needs of its objects.
 *
 * @param <H> the decoded head
 */
public interface StoreObject<H> extends StoredObject<H> {
    /** No volume: the object is in RAM only. */
    int NO_VOLUME = -1;

    /** Id of the representation: unique in the store, kept when the head changes. */
    long objectId();

    /** Number of the volume that has it, or {@link #NO_VOLUME}. */
    int volume();

    /** Where its record lay when it was read, 0 when it was not read. */
    long location();

    /**
     * The same representation with another head, the caller's to release.
     *
     * @param headBytes heap that the head retains
     */
    StoreObject<H> withHead(H newHead, int headBytes);

    /** Adds a reference unless the last one is gone. */
    boolean tryRetain();
}
