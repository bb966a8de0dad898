package io.millrace.store.index;

/** What the index asks about segments when it chooses what to drop. Called on the volume's writer thread. */
@FunctionalInterface
public interface SegmentAges {
    /** The sequence of the segment that the location names, -1 when it does not hold that record any more. */
    long age(long location);
}
