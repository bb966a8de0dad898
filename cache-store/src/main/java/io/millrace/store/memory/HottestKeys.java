package io.millrace.store.memory;

/**
 * Keys of a RAM tier in descending order of hits.
 *
 * @param hashes two hashes for each key: the upper and the lower half
 * @param requestedAgain number of keys that had a hit; they are the first ones
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record HottestKeys(long[] hashes, int requestedAgain) {
    /** No keys. */
    public static final HottestKeys NONE = new HottestKeys(new long[0], 0);

    /** Returns the number of keys. */
    public int count() {
        return hashes.length / 2;
    }
}
