package io.millrace.proxy.exchange.report;

import io.millrace.proxy.fetch.OriginFailure;

/**
 * The status, text and outcome of a response to a client when the request to the origin failed (RFC 9110 s15.6) or its
 * destination is denied (RFC 9110 s15.5.4). Thread-safe: no state.
 */
public final class FailureAnswer {
    private FailureAnswer() {}

    /**
     * Returns the status of the response to the client. It is 403 for a denied destination, 503 when a limit of this
     * proxy is reached or no host is up, 504 for a timeout, otherwise 502.
     */
    public static int status(OriginFailure.Reason reason) {
        if (reason == OriginFailure.Reason.DESTINATION) {
            return 403;
        }
        return reason.isUnavailable() ? 503 : reason.isTimeout() ? 504 : 502;
    }

    /** Returns the text of the response to the client: what happened, and the name of the reason in logs. */
    public static String text(OriginFailure.Reason reason) {
        String event =
                switch (reason) {
                    case DESTINATION -> "the address of the origin is denied";
                    case DNS, CONNECT_REFUSED, CONNECT_TIMEOUT, TLS -> "no connection to the origin could be made";
                    case QUEUE_FULL, QUEUE_TIMEOUT -> "too many requests wait for the origin";
                    case TUNNEL_LIMIT -> "the limit of tunnels to the origin is reached";
                    case NONE_UP -> "no host of the origin is up";
                    case FIRST_BYTE_TIMEOUT, IDLE_TIMEOUT, RESET, TRUNCATED -> "the origin gave no complete answer";
                    case REQUEST_TIMEOUT -> "the origin did not accept the content of the request in time";
                    case BAD_RESPONSE -> "the origin gave an invalid answer";
                    case MEMORY -> "this proxy is short of memory";
                    case EXTENSION -> "an extension of this proxy failed";
                    case CANCELLED -> "the request to the origin was cancelled";
                    case INTERNAL -> "an internal error of this proxy";
                };
        return event + ": " + reason.text();
    }

    /** Returns the outcome of the exchange. */
    public static ExchangeOutcome outcome(OriginFailure.Reason reason) {
        if (reason == OriginFailure.Reason.DESTINATION) {
            return ExchangeOutcome.DENIED;
        }
        return reason.isTimeout() ? ExchangeOutcome.ORIGIN_TIMEOUT : ExchangeOutcome.ORIGIN_FAILED;
    }
}
