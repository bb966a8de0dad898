package io.millrace.proxy.http2.frame;

/** A kind of violation or excess by a client, as it is counted. */
public enum Http2Fault {
    /** A frame or a request that RFC 9113 does not allow. */
    PROTOCOL,
    /** A frame of a length that its type does not have. */
    FRAME_SIZE,
    /** More content than the window had, or a window above 2^31-1. */
    FLOW_CONTROL,
    /** A field block that HPACK cannot decode. */
    COMPRESSION,
    /** A frame on a stream that is over. */
    STREAM_CLOSED,
    /** More streams at a time than allowed. */
    STREAMS,
    /** Requests that the client resets before they are answered: rapid reset. */
    RESETS,
    /** Faults on single streams, each answered with a reset: MadeYouReset. */
    STREAM_FAULTS,
    /** A field block in too many frames, or far over the limit of the header list. */
    CONTINUATION,
    /** SETTINGS, PING, PRIORITY, empty DATA and other frames that carry nothing. */
    CONTROL_FRAMES,
    /** A client that does not open the flow-control window of a response. */
    STALLED,
    /** No whole field block, or no preface, in time. */
    TIMEOUT,
    /** A request for a name that the connection's certificate does not have. */
    MISDIRECTED
}
