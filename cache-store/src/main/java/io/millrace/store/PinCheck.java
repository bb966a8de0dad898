package io.millrace.store;

/**
 * Decides at reclaim whether a pinned object is still worth its pin. An object that its owner has invalidated without
 * removing it is not.
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
    boolean isHeld(byte[] key, H head);
}
