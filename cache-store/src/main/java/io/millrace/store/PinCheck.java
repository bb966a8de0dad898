package io.millrace.store;

/**
 * Decides at reclaim whether a pinned object is still worth its pin. It is not if its owner has invalidated it without
 * removing it.
 *
 * <p>Thread-safe: called on the volumes' threads, for every pinned object of a segment that is reclaimed. Never blocks.
 *
 * @param <H> the decoded head
 */
@FunctionalInterface
public interface PinCheck<H> {
    /**
     * Whether the pin still applies.
     *
     * @param key the bytes of its key; borrowed
     */
    boolean isHeld(byte[] key, H head);
}
