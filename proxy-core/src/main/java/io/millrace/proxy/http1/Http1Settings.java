package io.millrace.proxy.http1;

/**
 * Limits and timeouts of HTTP/1.1 towards clients. A connection reads them at each use, so that changes apply to open
 * connections. A request whose head has arrived keeps its content limit.
 *
 * <p>Immutable.
 *
 * @param requestLineBytesMax limit of the request line in bytes; a longer one is answered with 414
 * @param headerBytesMax limit of the field section in bytes; a larger one is answered with 431
 * @param contentBytesMax limit of the request content in bytes, 0 for no limit; larger content is answered with 413
 * @param requestsPerConnectionMax number of requests after which the connection is closed, 0 for no limit
 * @param headerTimeoutNanos time limit from a request's first byte (or the connection's start) to the end of its head;
 *     a later head is answered with 408
 * @param keepAliveTimeoutNanos idle time between requests, after which the connection is closed
 * @param contentTimeoutNanos limit of the time without a byte of expected request content; exceeding it is answered
 *     with 408
 * @param contentRateMin minimum rate of request content in bytes per second, 0 for no limit; slower content is answered
 *     with 408
 * @param contentRateWindowNanos time over which the rate is measured
 * @param sendTimeoutNanos limit of the time in which the client accepts no byte of a waiting response; beyond it the
 *     connection is closed
 */
public record Http1Settings(
        int requestLineBytesMax,
        int headerBytesMax,
        long contentBytesMax,
        int requestsPerConnectionMax,
        long headerTimeoutNanos,
        long keepAliveTimeoutNanos,
        long contentTimeoutNanos,
        long contentRateMin,
        long contentRateWindowNanos,
        long sendTimeoutNanos) {

    /** Creates settings without a minimum rate of request content. */
    public Http1Settings(
            int requestLineBytesMax,
            int headerBytesMax,
            long contentBytesMax,
            int requestsPerConnectionMax,
            long headerTimeoutNanos,
            long keepAliveTimeoutNanos,
            long contentTimeoutNanos,
            long sendTimeoutNanos) {
        this(
                requestLineBytesMax,
                headerBytesMax,
                contentBytesMax,
                requestsPerConnectionMax,
                headerTimeoutNanos,
                keepAliveTimeoutNanos,
                contentTimeoutNanos,
                0,
                1,
                sendTimeoutNanos);
    }
}
