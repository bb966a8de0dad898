package io.millrace.proxy.origin;

/**
 * What is remembered of a host longer than a process lives. Times are epoch milliseconds. Immutable.
 *
 * @param version that it answered in last: 0 for HTTP/1.0, 1 for HTTP/1.1, 2 for HTTP/2; -1 when it has not answered
 * @param requests sent to it, retries among them
 * @param failures how many of them failed, or were answered by what counts as a failure
 * @param answeredMillis when it answered last; 0 when it has not
 * @param failedMillis when it failed last; 0 when it has not
 */
public record HostHistory(int version, long requests, long failures, long answeredMillis, long failedMillis) {
    /** Of a host that nobody has asked. */
    public static final HostHistory NONE = new HostHistory(-1, 0, 0, 0, 0);

    /** This, and what one event loop has counted since. */
    HostHistory and(HostLoad load) {
        boolean later = load.answeredMillis() > answeredMillis;
        return new HostHistory(
                later ? load.version() : version,
                requests + load.requests(),
                failures + load.failures(),
                Math.max(answeredMillis, load.answeredMillis()),
                Math.max(failedMillis, load.failedMillis()));
    }
}
