package io.millrace.proxy.http2.frame;

/** The error codes of HTTP/2 (RFC 9113 s7). */
public enum ErrorCode {
    NO_ERROR(0),
    PROTOCOL_ERROR(1),
    INTERNAL_ERROR(2),
    FLOW_CONTROL_ERROR(3),
    SETTINGS_TIMEOUT(4),
    STREAM_CLOSED(5),
    FRAME_SIZE_ERROR(6),
    REFUSED_STREAM(7),
    CANCEL(8),
    COMPRESSION_ERROR(9),
    CONNECT_ERROR(10),
    ENHANCE_YOUR_CALM(11);

    private final int code;

    ErrorCode(int code) {
        this.code = code;
    }

    /** The error code in frames. */
    public int code() {
        return code;
    }
}
