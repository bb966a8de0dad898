package io.millrace.store.curve;

/** A key in the simulation. Confined to the thread that computes the curve of hit ratios. */
final class SampledKey {
    final long hash;
    /** Index in the arrays of the simulated caches. */
    final int id;

    /** Number of the key's group, such as its host, whose hits are counted separately. */
    final int group;
    /** Bytes that the object occupies; at least 1. */
    int size;
    /** Number of simulated caches that hold or remember the key. */
    int holders;

    SampledKey(long hash, int id, int group, int size) {
        this.hash = hash;
        this.id = id;
        this.group = group;
        this.size = size;
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    /**
     * Equal to the hash code of the key's entry in the RAM tier, so that both frequency sketches have the same
     * collisions.
     */
    @Override
    public int hashCode() {
        return Long.hashCode(hash);
    }
}
