package io.millrace.store.disk;

/**
 * Says what is worth its place on a volume.
 *
 * <p>Confined to the volume's writer thread.
 */
public interface KeepPolicy {
    /** Highest worth; what is pinned is above all. */
    int WORTH_MAX = 253;

    /** A segment was begun in a ring that is full, of this many objects: questions about the records of the oldest follow. */
    void segmentBegun(long objects);

    /**
     * How much it is worth to keep a record of a segment that is given up, up to {@link #WORTH_MAX}; 0 to give it up.
     *
     * @param keyHash lower half of the hash of the object's key
     * @param hits how often it was read since it was put where it is, as far as the index counts
     */
    int worth(long keyHash, int hits);

    /** Keeps what was read. */
    KeepPolicy BY_HITS = new KeepPolicy() {
        @Override
        public void segmentBegun(long objects) {
            // Nothing to learn.
        }

        @Override
        public int worth(long keyHash, int hits) {
            return hits;
        }
    };
}
