package io.millrace.store.memory;

/** Receives the hits of a RAM tier. */
@FunctionalInterface
public interface HitListener<E> {
    /**
     * Called for a hit.
     *
     * @param entry borrowed, and possibly already released
     * @param hits number of recent hits of the entry, including this one; approximate
     */
    void onHit(E entry, int hits);
}
