package io.millrace.proxy.http2;

/**
 * The limits and timeouts of HTTP/2 with clients. A connection reads each value when it is needed, so that changes
 * apply at once.
 *
 * <p>Immutable.
 *
 * @param streamsMax limit of concurrent requests on one connection; further ones are refused with REFUSED_STREAM
 * @param headerListMax limit of a field section, counted as in RFC 9113 s6.5.2; 431 beyond it
 * @param resetsMax limit of requests that a client resets within 30 s; the connection ends beyond it
 * @param streamFaultsMax limit of streams that end by a fault of the client within 30 s; the connection ends beyond it
 * @param controlFramesMax limit of frames without request or content within 30 s; the connection ends beyond it
 * @param contentBytesMax limit of request content in bytes, 0 for no limit; 413 beyond it
 * @param requestsPerConnectionMax number of requests after which the connection ends, 0 for no limit
 * @param windowBytes receive window of one request, in bytes
 * @param headerTimeoutNanos limit from the first byte of a field block, or the start of the connection, to the end of
 *     the block
 * @param keepAliveTimeoutNanos time without a request after which the connection ends
 * @param contentTimeoutNanos limit of the time between two parts of awaited request content; 408 beyond it
 * @param contentRateMin lowest rate of request content in bytes per second, 0 for no limit; 408 below it
 * @param contentRateWindowNanos time over which the rate is measured
 * @param sendTimeoutNanos limit of the time in which a client accepts no byte of a waiting response
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
