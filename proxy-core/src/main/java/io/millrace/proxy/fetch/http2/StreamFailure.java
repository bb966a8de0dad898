package io.millrace.proxy.fetch.http2;

/**
 * Why a stream ended before its response was complete. Immutable.
 *
 * @param kind which of the ways it ended
 * @param problem what happened, for the operator
 */
public record StreamFailure(Kind kind, String problem) {
    /** The ways in which a stream ends early. */
    public enum Kind {
        /** The origin says that it has not processed the request: REFUSED_STREAM, or GOAWAY with a lower stream. */
        NOT_PROCESSED,
        /** The origin reset the stream, or the connection ended. */
        RESET,
        /** The response violates a rule or a limit. */
        BAD_RESPONSE,
        /** TLS was violated. */
        TLS,
        /** No memory to receive the response. */
        MEMORY,
        /** A fault of this program. */
        INTERNAL
    }
}
