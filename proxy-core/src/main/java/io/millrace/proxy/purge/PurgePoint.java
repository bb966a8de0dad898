package io.millrace.proxy.purge;

/**
 * A point in time among the purges of single keys, as {@link Purger#point} gives it: the purge that was the latest then. Equal by
 * identity.
 *
 * <p>Thread-safe.
 */
public final class PurgePoint {
    /** Before every purge. */
    static final PurgePoint START = new PurgePoint(0);
    /** Stands for the purges that are no longer kept. */
    static final PurgePoint FORGOTTEN = new PurgePoint(0);

    /** Hash of the purged key. */
    final int hash;

    /** What came before it; set before others see it, and later at most changed to {@link #FORGOTTEN}. */
    volatile PurgePoint earlier = this;

    PurgePoint(int hash) {
        this.hash = hash;
    }
}
