package io.millrace.proxy.exchange.report;

import io.millrace.proxy.fetch.OriginFailure;

/**
 * The status and outcome of a response to a client when the request to the origin failed (RFC 9110 s15.6). Thread-safe:
 * no state.
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

    /** Returns the outcome of the exchange. */
    public static ExchangeOutcome outcome(OriginFailure.Reason reason) {
        if (reason == OriginFailure.Reason.DESTINATION) {
            return ExchangeOutcome.DENIED;
        }
        return reason.isTimeout() ? ExchangeOutcome.ORIGIN_TIMEOUT : ExchangeOutcome.ORIGIN_FAILED;
    }
}
