package io.millrace.store.disk;

/**
 * The policy that rates records for reclaim.
 *
 * <p>Confined to the volume's writer thread.
 */
public interface KeepPolicy {
    /** Highest rating of an unpinned record; pinned records rate higher. */
    int WORTH_MAX = 253;

    /**
     * Called when a segment begins in a full volume with this number of objects. The records of the oldest segment are
     * rated next.
     */
    void segmentBegun(long objects);

    /**
     * Returns the value of keeping a record of a segment that is reclaimed, up to {@link #WORTH_MAX}; 0 to drop it.
     *
     * @param keyHash lower half of the hash of the object's key
     * @param hits number of reads since the record was written, as far as the index counts
     */
    int worth(long keyHash, int hits);

    /** The policy that keeps records with hits. */
    KeepPolicy BY_HITS = new KeepPolicy() {
        @Override
        public void segmentBegun(long objects) {
            // No state to update.
        }

        @Override
        public int worth(long keyHash, int hits) {
            return hits;
        }
    };
}
