package io.millrace.proxy.dns;

/**
 * What became of the names that one event loop was asked for: plain numbers, written by it.
 *
 * <p>Confined to one event loop.
 */
public final class DnsStatistics {
    long cached;
    long answered;
    long unknown;
    long failed;
    long stale;
    long queries;

    DnsStatistics() {}

    /** Answered from memory, in time. */
    public long cached() {
        return cached;
    }

    /** Answered by a name server. */
    public long answered() {
        return answered;
    }

    /** A name server said, now or not long ago, that there is no address. */
    public long unknown() {
        return unknown;
    }

    /** No name server answered, and nothing was remembered. */
    public long failed() {
        return failed;
    }

    /** Answered from memory after its time, since no name server answered. */
    public long stale() {
        return stale;
    }

    /** Hosts that name servers were asked for, each of them by one or more queries. */
    public long queries() {
        return queries;
    }
}
