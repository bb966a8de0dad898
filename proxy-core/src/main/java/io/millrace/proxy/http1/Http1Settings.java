package io.millrace.proxy.http1;

/**
 * Limits and timeouts of HTTP/1.1 towards clients. A connection reads them at each use, so that changes apply to open
 * connections. A request whose head has arrived keeps its content limit.
 *
 * <p>Immutable.
 *
 * @param requestLineBytesMax longest request line; beyond it 414
 * @param headerBytesMax largest field section; beyond it 431
 * @param contentBytesMax largest request content, 0 for no limit; beyond it 413
 * @param requestsPerConnectionMax requests after which the connection is closed, 0 for no limit
 * @param headerTimeoutNanos from a request's first byte (or the connection's start) to the end of its head; beyond it
 *     408
 * @param keepAliveTimeoutNanos idle time between requests
 * @param contentTimeoutNanos time without a byte of expected request content; beyond it 408
 * @param contentRateMin minimum rate of request content in bytes per second, 0 for no limit; below it 408
 * @param contentRateWindowNanos time over which the rate is measured
 * @param sendTimeoutNanos time without an accepted byte of a waiting response; beyond it the connection is closed
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
