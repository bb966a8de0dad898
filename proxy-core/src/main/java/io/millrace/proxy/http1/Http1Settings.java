package io.millrace.proxy.http1;

/**
 * Limits and timeouts of HTTP/1.1 on the client's side. A connection asks for them whenever one counts, so that a change holds on connections that are open too; a
 * request whose head has come keeps the limit of its content.
 *
 * <p>Immutable.
 *
 * @param requestLineBytesMax longest request line; beyond it 414
 * @param headerBytesMax largest field section; beyond it 431
 * @param contentBytesMax largest request content, 0 for no limit; beyond it 413
 * @param requestsPerConnectionMax requests after which the connection is closed, 0 for no limit
 * @param headerTimeoutNanos from a request's first byte (or the connection's start) to the end of its head; beyond it 408
 * @param keepAliveTimeoutNanos idle time between requests
 * @param contentTimeoutNanos silence while request content is due; beyond it 408
 * @param contentRateMin bytes of request content a second that a client has to send, 0 for no limit; below it 408
 * @param contentRateWindowNanos time over which that is measured
 * @param sendTimeoutNanos time in which a client takes no byte of a response that waits for it
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

    /** The same without a least rate of request content. */
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
