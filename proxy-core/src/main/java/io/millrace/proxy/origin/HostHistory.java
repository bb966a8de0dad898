package io.millrace.proxy.origin;

/**
 * The history of an origin host, which is kept across restarts. Times are epoch milliseconds. Immutable.
 *
 * @param version HTTP version of the last response that was no failure: 0 for HTTP/1.0, 1 for HTTP/1.1, 2 for HTTP/2;
 *     -1 if there was none
 * @param requests number of requests sent, including retries
 * @param failures number of requests that failed, or whose response counts as a failure
 * @param answeredMillis time of the last response that was no failure; 0 if there was none
 * @param failedMillis time of the last failure; 0 if there was none
 */
public record HostHistory(int version, long requests, long failures, long answeredMillis, long failedMillis) {
    /** The history of a host that has received no requests. */
    public static final HostHistory NONE = new HostHistory(-1, 0, 0, 0, 0);

    /** Returns this history plus the counters of one event loop. */
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
