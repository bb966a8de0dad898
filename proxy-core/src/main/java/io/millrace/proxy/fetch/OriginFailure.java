package io.millrace.proxy.fetch;

/**
 * Why a call to an origin did not end with a whole response.
 *
 * <p>Immutable.
 *
 * @param reason what went wrong, one of a closed list
 * @param message one sentence for the operator: what happened, the origin, and the limit that was reached where there was one
 * @param beforeHead true when the caller has not been given a response head, so that it can still answer something else (502, 504, a stale response)
 */
public record OriginFailure(Reason reason, String message, boolean beforeHead) {

    /** The closed list of reasons. Their texts are stable: logs, metrics and Cache-Status details carry them. */
    public enum Reason {
        /** The origin's name has no address, or no name server answered in time. */
        DNS("dns"),
        /** No address of the name is one that the request may go to. */
        DESTINATION("destination-denied"),
        /** Nothing listens there, or there is no route to it. */
        CONNECT_REFUSED("connect-refused"),
        /** No connection within the connect timeout, over all addresses and including the TLS handshake. */
        CONNECT_TIMEOUT("connect-timeout"),
        /** The TLS handshake failed, the certificate was not accepted, or a TLS record was bad. */
        TLS("tls"),
        /** As many calls as allowed were already waiting for a connection to this origin. */
        QUEUE_FULL("queue-full"),
        /** The origin has as many tunnels as it may. */
        TUNNEL_LIMIT("tunnel-limit"),
        /** The call waited for one of the origin's connections for as long as it may. */
        QUEUE_TIMEOUT("queue-timeout"),
        /** The request was sent, and no complete response head came in time. */
        FIRST_BYTE_TIMEOUT("first-byte-timeout"),
        /** The response stopped in the middle for longer than it may. */
        IDLE_TIMEOUT("idle-timeout"),
        /** The origin did not take the request's content for longer than it may. */
        REQUEST_TIMEOUT("request-timeout"),
        /** The connection was closed or reset before a response, or reset in the middle of one. */
        RESET("reset"),
        /** The connection was closed in the middle of a head, before Content-Length bytes, or before the last chunk. */
        TRUNCATED("truncated"),
        /** What came is not a response that can be framed beyond doubt, or it is larger than a limit. */
        BAD_RESPONSE("bad-response"),
        /** The memory for bytes in flight was used up; the origin was not asked. */
        MEMORY("memory-full"),
        /** No host of a group of origins is up. */
        NONE_UP("no-origin-up"),
        /** This side ended it: the client was closed. Not reported for the caller's own {@link OriginCall#cancel()}. */
        CANCELLED("cancelled"),
        /** A fault of this program, not of the origin. */
        INTERNAL("internal");

        private final String text;

        Reason(String text) {
            this.text = text;
        }

        /** The stable text of this reason: lower case, words joined by hyphens. */
        public String text() {
            return text;
        }

        /** Whether this side could not send the request, so that 503 describes it best (RFC 9110 s15.6.4). */
        public boolean isUnavailable() {
            return this == MEMORY
                    || this == NONE_UP
                    || this == QUEUE_FULL
                    || this == QUEUE_TIMEOUT
                    || this == TUNNEL_LIMIT;
        }

        /** Whether it is the origin's, or the way's to it, and neither this program's own nor a limit that says nothing of ordinary requests. */
        public boolean isOrigins() {
            return this != CANCELLED && this != INTERNAL && this != MEMORY && this != TUNNEL_LIMIT;
        }

        /** Whether the origin was too slow, so that 504 describes it better than 502 (RFC 9110 s15.6.5). */
        public boolean isTimeout() {
            return switch (this) {
                case CONNECT_TIMEOUT, QUEUE_TIMEOUT, FIRST_BYTE_TIMEOUT, IDLE_TIMEOUT, REQUEST_TIMEOUT -> true;
                case DNS,
                        DESTINATION,
                        CONNECT_REFUSED,
                        TLS,
                        QUEUE_FULL,
                        TUNNEL_LIMIT,
                        RESET,
                        TRUNCATED,
                        BAD_RESPONSE,
                        MEMORY,
                        NONE_UP,
                        CANCELLED,
                        INTERNAL -> false;
            };
        }
    }
}
