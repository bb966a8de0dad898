package io.millrace.proxy.spi;

/** The observer of purges. */
public interface PurgeObserver {
    /**
     * Receives a purge that the proxy has accepted. Called on a thread that the proxy has for extensions. The method
     * may block.
     */
    void purged(Purge purge);

    /**
     * A purge.
     *
     * @param kind the kind as in the audit record, such as {@code url}, {@code prefix} or {@code tag}
     * @param target the URL, prefix, tag or pattern
     * @param soft whether stored responses become stale instead of unusable
     * @param timeMillis the time of the purge, in epoch milliseconds
     */
    record Purge(String kind, String target, boolean soft, long timeMillis) {}
}
