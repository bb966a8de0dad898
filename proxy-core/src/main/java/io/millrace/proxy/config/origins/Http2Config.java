package io.millrace.proxy.config.origins;

import io.millrace.proxy.config.key.ConfigValues;

/**
 * Limits of client HTTP/2 connections. Immutable.
 *
 * @param streams requests on one connection at the same time
 * @param headerListBytes largest field section of a request
 * @param resets limit of requests that a client may reset in 30 s
 * @param streamFaults limit of streams that end by a protocol error of the client in 30 s
 * @param controlFrames limit of frames without a request or content in 30 s
 * @param streamWindowBytes flow-control window of one request: content that may be in flight
 */
public record Http2Config(
        int streams, int headerListBytes, int resets, int streamFaults, int controlFrames, int streamWindowBytes) {
    public static Http2Config from(ConfigValues values) {
        return new Http2Config(
                values.get(Http2Keys.STREAMS),
                Math.toIntExact(values.get(Http2Keys.HEADER_LIST)),
                values.get(Http2Keys.RESETS),
                values.get(Http2Keys.STREAM_FAULTS),
                values.get(Http2Keys.CONTROL_FRAMES),
                Math.toIntExact(values.get(Http2Keys.STREAM_WINDOW)));
    }
}
