package io.millrace.proxy.exchange.report;

import io.millrace.proxy.fetch.OriginFailure;

/** What a client is told where an origin gave no answer, or there is no connection to it (RFC 9110 s15.6). No state. */
public final class FailureAnswer {
    private FailureAnswer() {}

    /** 403 for where requests may not go, 503 where limits of this side are reached or nobody is up, 504 for what took too long, else 502. */
    public static int status(OriginFailure.Reason reason) {
        if (reason == OriginFailure.Reason.DESTINATION) {
            return 403;
        }
        return reason.isUnavailable() ? 503 : reason.isTimeout() ? 504 : 502;
    }

    public static ExchangeOutcome outcome(OriginFailure.Reason reason) {
        if (reason == OriginFailure.Reason.DESTINATION) {
            return ExchangeOutcome.DENIED;
        }
        return reason.isTimeout() ? ExchangeOutcome.ORIGIN_TIMEOUT : ExchangeOutcome.ORIGIN_FAILED;
    }
}
