package io.millrace.proxy.purge;

/**
 * A purge of a single key, in the linked list of {@link RecentPurges}. A fetch keeps the latest purge at its
 * start, to detect later purges. Compared by identity.
 *
 * <p>Thread-safe.
 */
public final class PurgePoint {
    /** The first element of each list, which is no purge. */
    static final PurgePoint START = new PurgePoint(0);
    /** An element in place of older purges, which are no longer kept. */
    static final PurgePoint FORGOTTEN = new PurgePoint(0);

    /** Hash of the purged key. */
    final int hash;

    /**
     * The previous purge in the list. Set before publication, and later changed at most once, to {@link #FORGOTTEN}.
     */
    volatile PurgePoint earlier = this;

    PurgePoint(int hash) {
        this.hash = hash;
    }
}
