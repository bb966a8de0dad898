package io.millrace.store.memory;

/** A listener of the hits of a RAM tier. */
@FunctionalInterface
public interface HitListener<E> {
    /**
     * Called for one hit.
     *
     * @param entry borrowed; it may already be released, so retain it before its body is used
     * @param hits number of recent hits of the entry, including this one; approximate
     */
    void onHit(E entry, int hits);
}
