package io.millrace.store.index;

/** The ages of segments, used to select entries for eviction. Called on the volume's writer thread. */
@FunctionalInterface
public interface SegmentAges {
    /** Returns the sequence of the segment of the location, -1 if the segment no longer holds that record. */
    long age(long location);
}
