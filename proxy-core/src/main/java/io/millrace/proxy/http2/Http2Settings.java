package io.millrace.proxy.http2;

/**
 * Limits and timeouts of HTTP/2 on the client's side. A connection asks for them whenever one counts.
 *
 * <p>Immutable.
 *
 * @param streamsMax requests of one connection at the same time; one more is refused (REFUSED_STREAM)
 * @param headerListMax largest field section, counted as RFC 9113 s6.5.2 does; beyond it 431
 * @param resetsMax requests that a client may reset within 30 s; beyond it the connection ends
 * @param streamFaultsMax streams that end by a client's fault within 30 s; beyond it the connection ends
 * @param controlFramesMax frames without request or content within 30 s; beyond it the connection ends
 * @param contentBytesMax largest request content, 0 for no limit; beyond it 413
 * @param requestsPerConnectionMax requests after which the connection ends, 0 for no limit
 * @param windowBytes content of one request that may be on its way before this side has taken any
 * @param headerTimeoutNanos from a field block's first byte, or the connection's start, to its end
 * @param keepAliveTimeoutNanos time without a request after which the connection ends
 * @param contentTimeoutNanos silence while request content is due; beyond it 408
 * @param contentRateMin bytes of request content a second that a client has to send, 0 for no limit; below it 408
 * @param contentRateWindowNanos time over which that is measured
 * @param sendTimeoutNanos time in which a client takes no byte of a response that waits for it
 */
public record Http2Settings(
        int streamsMax,
        int headerListMax,
        int resetsMax,
        int streamFaultsMax,
        int controlFramesMax,
        long contentBytesMax,
        int requestsPerConnectionMax,
        int windowBytes,
        long headerTimeoutNanos,
        long keepAliveTimeoutNanos,
        long contentTimeoutNanos,
        long contentRateMin,
        long contentRateWindowNanos,
        long sendTimeoutNanos) {}
