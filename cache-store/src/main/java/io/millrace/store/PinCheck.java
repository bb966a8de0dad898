package io.millrace.store;

/**
 * Says whether an object that is pinned is still to be kept for that, when a volume would carry it on: what its owner has made
 * useless without removing it is not.
 *
 * <p>Thread-safe: called on the volumes' threads, once for each such object and turn of the ring. Never blocks.
 *
 * @param <H> the decoded head
 */
@FunctionalInterface
public interface PinCheck<H> {
    /**
     * Whether it is.
     *
     * @param key the bytes of its key; borrowed
     */
    boolean isHeld(byte[] key, H head);
}
