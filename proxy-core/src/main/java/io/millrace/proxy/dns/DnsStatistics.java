package io.millrace.proxy.dns;

/**
 * The counters of name resolution in one event loop, in plain fields.
 *
 * <p>Not thread-safe; confined to one event loop.
 */
public final class DnsStatistics {
    long cached;
    long answered;
    long unknown;
    long failed;
    long stale;
    long queries;

    DnsStatistics() {}

    /** Results from the cache, not expired. */
    public long cached() {
        return cached;
    }

    /** Results from a name server. */
    public long answered() {
        return answered;
    }

    /** Negative answers, from a name server or from the cache. */
    public long unknown() {
        return unknown;
    }

    /**
     * Failures: there was no usable cached answer, and no name server responded or too many queries were in progress.
     */
    public long failed() {
        return failed;
    }

    /** Expired results from the cache, because no name server responded or too many queries were in progress. */
    public long stale() {
        return stale;
    }

    /** Hosts that were queried, each with one or more DNS queries. */
    public long queries() {
        return queries;
    }
}
