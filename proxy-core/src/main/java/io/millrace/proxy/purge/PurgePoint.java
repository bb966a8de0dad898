package io.millrace.proxy.purge;

/**
 * The latest purge of a single key at the time of a call of {@link Purger#point}. Compared by identity.
 *
 * <p>Thread-safe.
 */
public final class PurgePoint {
    /** The point of a slot without purges. */
    static final PurgePoint START = new PurgePoint(0);
    /** Replaces the purges that are no longer kept. */
    static final PurgePoint FORGOTTEN = new PurgePoint(0);

    /** Hash of the purged key. */
    final int hash;

    /** The purge before it; set before publication, and changed at most once, to {@link #FORGOTTEN}. */
    volatile PurgePoint earlier = this;

    PurgePoint(int hash) {
        this.hash = hash;
    }
}
