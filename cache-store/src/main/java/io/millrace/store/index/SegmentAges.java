package io.millrace.store.index;

/** A source of segment ages, which {@link Eviction} uses to compare entries. Called on the volume's writer thread. */
@FunctionalInterface
public interface SegmentAges {
    /**
     * Returns the sequence number of the segment of the location. It is lower for an older segment. -1 if the segment
     * no longer contains that record.
     */
    long age(long location);
}
