package io.millrace.store;

/**
 * A check whether a pinned object must still be kept when its disk space is reclaimed. A pinned object is one that its
 * volume keeps until a given time ({@link HeadCodec#pinnedUntilSeconds}). If the owner has invalidated, but not removed
 * it, it need not be kept.
 *
 * <p>Thread-safe: called on the volumes' threads, once for each pinned object of a segment that is reclaimed. Never
 * blocks.
 *
 * @param <H> the decoded head
 */
@FunctionalInterface
public interface PinCheck<H> {
    /**
     * Returns true if the pin still applies.
     *
     * @param key the bytes of the object's key; borrowed
     */
    boolean staysPinned(byte[] key, H head);
}
