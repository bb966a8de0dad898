package io.millrace.store.curve;

/** A cache of sampled keys without content. Confined to the thread that computes the curve of hit ratios. */
interface SimulatedCache {
    /** Requests the key, and adds it if it is absent; returns true for a hit. */
    boolean access(SampledKey key);

    /**
     * Adds {@code moreBytes} to the bytes in use if the cache holds the key. {@code moreBytes} is negative if the key's
     * object has become smaller.
     */
    void sizeChanged(SampledKey key, int moreBytes);

    /** Removes the key, also from the list of evicted keys that some policies keep. */
    void remove(SampledKey key);

    /** Sets the capacity in bytes. */
    void resize(long bytes);
}
