package io.millrace.proxy.http2.frame;

/** A kind of HTTP/2 error that a client causes. Each kind has a counter in the metrics. */
public enum Http2Fault {
    /** A frame or request that RFC 9113 does not allow. */
    PROTOCOL,
    /** A frame whose length is not allowed for its type. */
    FRAME_SIZE,
    /** More content than the window allows, or a window above 2^31-1. */
    FLOW_CONTROL,
    /** A field block that HPACK cannot decode. */
    COMPRESSION,
    /** A frame on a closed stream. */
    STREAM_CLOSED,
    /** More concurrent streams than allowed. */
    STREAMS,
    /** Too many requests that the client reset before they were answered (rapid reset). */
    RESETS,
    /** Too many faults on single streams, each answered with a reset (MadeYouReset). */
    STREAM_FAULTS,
    /** A field block in too many frames, or far above the limit of the header list. */
    CONTINUATION,
    /** Too many frames without a request or content, for example SETTINGS, PING, PRIORITY and empty DATA. */
    CONTROL_FRAMES,
    /** A client that does not enlarge the flow-control window of a response. */
    STALLED,
    /** A field block or preface that was not complete in time. */
    TIMEOUT,
    /** A request for a host that the certificate of the connection does not cover. */
    MISDIRECTED
}
