package io.millrace.proxy.fetch.http2;

/**
 * The reason why an HTTP/2 stream ended before its response was complete. Immutable.
 *
 * @param kind the kind of failure
 * @param problem description for the operator
 */
public record StreamFailure(Kind kind, String problem) {
    /** The kinds of failure of a stream. */
    public enum Kind {
        /** The origin has not processed the request: it sent REFUSED_STREAM, or GOAWAY with a lower stream id. */
        NOT_PROCESSED,
        /** The origin reset the stream, or the connection ended. */
        RESET,
        /** The response violates a protocol rule or a limit. */
        BAD_RESPONSE,
        /** A TLS error. */
        TLS,
        /** There was no memory to receive the response. */
        MEMORY,
        /** An internal error of this program. */
        INTERNAL
    }
}
