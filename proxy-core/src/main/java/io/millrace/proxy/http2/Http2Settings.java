package io.millrace.proxy.http2;

/**
 * The limits and timeouts of HTTP/2 with clients. A connection reads each value when it is needed, so that changes
 * apply immediately.
 *
 * <p>Immutable.
 *
 * @param streamsMax limit of concurrent requests on one connection; further requests are refused with REFUSED_STREAM
 * @param headerListMax size limit of a field section in bytes, counted as in RFC 9113 s6.5.2; a larger request is
 *     answered with 431
 * @param resetsMax limit of requests that a client resets within 30 s; more resets end the connection
 * @param streamFaultsMax limit of streams that end by a fault of the client within 30 s; more faults end the
 *     connection
 * @param controlFramesMax limit of frames without a request or content within 30 s; more frames end the connection
 * @param contentBytesMax limit of request content in bytes, 0 for no limit; a larger request is answered with 413
 * @param requestsPerConnectionMax number of requests after which the connection ends, 0 for no limit
 * @param windowBytes receive window of one request, in bytes
 * @param headerTimeoutNanos time in which a client must complete the preface, a frame or a field block
 * @param keepAliveTimeoutNanos time without a request after which the connection ends
 * @param contentTimeoutNanos limit of the time between two parts of awaited request content; a slower request is
 *     answered with 408
 * @param contentRateMin lowest rate of request content in bytes per second, 0 for no limit; a slower request is
 *     answered with 408
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
