package io.millrace.proxy.http2.frame;

/**
 * A protocol violation by the peer, which ends one stream or the connection. Has no stack trace, because a peer can
 * cause any number of these exceptions.
 *
 * <p>Immutable.
 */
public final class Http2Exception extends Exception {
    private static final long serialVersionUID = 1;

    /** Stream id of an error that ends the connection. */
    public static final int CONNECTION = 0;

    private final int streamId;
    private final ErrorCode code;
    private final Http2Fault fault;

    private Http2Exception(int streamId, ErrorCode code, Http2Fault fault, String message) {
        super(message, null, false, false);
        this.streamId = streamId;
        this.code = code;
        this.fault = fault;
    }

    /** Creates an error that ends the connection. */
    public static Http2Exception connection(ErrorCode code, Http2Fault fault, String message) {
        return new Http2Exception(CONNECTION, code, fault, message);
    }

    /** Creates an error of one stream. */
    public static Http2Exception stream(int streamId, ErrorCode code, Http2Fault fault, String message) {
        return new Http2Exception(streamId, code, fault, message);
    }

    /** The id of the stream that ends, or {@link #CONNECTION}. */
    public int streamId() {
        return streamId;
    }

    /** The error code to be sent to the peer. */
    public ErrorCode code() {
        return code;
    }

    /** The kind of violation for counters. */
    public Http2Fault fault() {
        return fault;
    }
}
