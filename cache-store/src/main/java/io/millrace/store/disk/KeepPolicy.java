package io.millrace.store.disk;

/**
 * Rates the records of a segment that is reclaimed, to decide which of them are kept.
 *
 * <p>Confined to the volume's writer thread.
 */
public interface KeepPolicy {
    /** Highest rating of an unpinned record; pinned records rate higher. */
    int RATING_MAX = 253;

    /**
     * Called when a full volume begins a new segment, before the records of the oldest segment are rated.
     *
     * @param objects number of objects in the volume
     */
    void segmentBegun(long objects);

    /**
     * Returns the rating of a record whose segment is reclaimed: 0 (drop the record) to {@link #RATING_MAX}.
     *
     * @param keyHash lower half of the hash of the object's key
     * @param hits number of reads since the record was written, limited by the index's counter
     */
    int rating(long keyHash, int hits);

    /** The policy that keeps records with hits. */
    KeepPolicy BY_HITS = new KeepPolicy() {
        @Override
        public void segmentBegun(long objects) {
            // No state to update.
        }

        @Override
        public int rating(long keyHash, int hits) {
            return hits;
        }
    };
}
