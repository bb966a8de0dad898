package io.millrace.store.memory;

/**
 * Chooses the entries of a RAM tier that are evicted when their weight exceeds a limit. Evicted entries are passed to
 * the tier, which unlinks them.
 *
 * <p>Thread-safe. Methods are called by event loops and by the housekeeping thread; none of them waits for I/O.
 */
interface EvictionPolicy {
    /** Adds an entry, or updates the weight of one that was added before. The policy may evict on another thread. */
    void put(RamEntry entry);

    /** Counts a request for an entry; does nothing for an entry that was not added. */
    void recordRequest(RamEntry entry);

    /** Updates the weight of an entry; does nothing for an entry that was not added. */
    void reweigh(RamEntry entry);

    /** Forgets an entry, without passing it to the tier. */
    void remove(RamEntry entry);

    /** Sets the limit in bytes, and evicts on this thread until the entries fit. */
    void limit(long bytes);

    /** Evicts on this thread until the entries fit. */
    void evict();

    /**
     * Ends the use of this policy: it forgets all entries, without passing them to the tier. The tier also adds an
     * entry that is put meanwhile to its new policy.
     */
    void retire();
}
