package io.millrace.proxy.fetch;

/**
 * The reason why a call to an origin did not end with a complete response.
 *
 * <p>Immutable.
 *
 * @param reason the kind of failure, from a closed list
 * @param message one sentence for the operator: the event, the origin, and the limit that was reached, if any
 * @param beforeHead true when the caller has not received a response head. It can then answer with 502, 504 or a stale
 *     response
 */
public record OriginFailure(Reason reason, String message, boolean beforeHead) {

    /** The closed list of reasons. Their texts are stable: logs, metrics and Cache-Status details contain them. */
    public enum Reason {
        /** The origin's name has no address, or no name server answered in time. */
        DNS("dns"),
        /** The name has no address to which the request may be sent. */
        DESTINATION("destination-denied"),
        /** No process listens on the port, or there is no route to the address. */
        CONNECT_REFUSED("connect-refused"),
        /** No address gave a connection (including the TLS handshake) within the connect timeout. */
        CONNECT_TIMEOUT("connect-timeout"),
        /** The TLS handshake failed, the certificate was not accepted, or a TLS record was bad. */
        TLS("tls"),
        /** The limit of calls that wait for a connection to this origin was reached. */
        QUEUE_FULL("queue-full"),
        /** The limit of tunnels to the origin was reached. */
        TUNNEL_LIMIT("tunnel-limit"),
        /** The call waited longer than permitted for one of the origin's connections. */
        QUEUE_TIMEOUT("queue-timeout"),
        /** The request was sent, and no complete response head arrived in time. */
        FIRST_BYTE_TIMEOUT("first-byte-timeout"),
        /** The response paused for longer than permitted. */
        IDLE_TIMEOUT("idle-timeout"),
        /** The origin accepted no request content for longer than permitted. */
        REQUEST_TIMEOUT("request-timeout"),
        /** The connection was closed or reset before a response, or reset in the middle of one. */
        RESET("reset"),
        /** The connection was closed in the middle of a head, before Content-Length bytes, or before the last chunk. */
        TRUNCATED("truncated"),
        /** The response cannot be framed unambiguously, or is larger than a limit. */
        BAD_RESPONSE("bad-response"),
        /**
         * limits.memory_in_flight was reached, or memory for the response could not be allocated. The request may have
         * been sent already.
         */
        MEMORY("memory-full"),
        /** No host of a group of origins is up. */
        NONE_UP("no-origin-up"),
        /** The {@link OriginClient} was closed. Not reported after {@link OriginCall#cancel()}. */
        CANCELLED("cancelled"),
        /** A hook of an extension failed, and the extension's setting on_error is {@code closed}. */
        EXTENSION("extension"),
        /** An internal error of this proxy. */
        INTERNAL("internal");

        private final String text;

        Reason(String text) {
            this.text = text;
        }

        /** The identifier of this reason in logs: lower case, words joined by hyphens. Never changes. */
        public String text() {
            return text;
        }

        /**
         * Returns true if a limit or an extension of this proxy ended the call, or if no host of a group is up. Then
         * 503 is the best status (RFC 9110 s15.6.4).
         */
        public boolean isUnavailable() {
            return this == MEMORY
                    || this == EXTENSION
                    || this == NONE_UP
                    || this == QUEUE_FULL
                    || this == QUEUE_TIMEOUT
                    || this == TUNNEL_LIMIT;
        }

        /**
         * Returns true if the origin or the network path to it has failed. False for internal errors, and for limits
         * that are unrelated to the state of the origin.
         */
        public boolean isOriginFault() {
            return this != CANCELLED && this != INTERNAL && this != EXTENSION && this != MEMORY && this != TUNNEL_LIMIT;
        }

        /** Returns true if the origin was too slow, so that 504 is a better status than 502 (RFC 9110 s15.6.5). */
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
                        EXTENSION,
                        INTERNAL -> false;
            };
        }
    }
}
