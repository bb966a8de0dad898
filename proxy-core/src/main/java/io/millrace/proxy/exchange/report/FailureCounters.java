package io.millrace.proxy.exchange.report;

import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.log.LogOutcome;

/** Maps failures to their counters and log outcomes. Thread-safe: no state. */
public final class FailureCounters {
    private FailureCounters() {}

    /** Returns the counter of a failed request to an origin. */
    public static Counter of(OriginFailure.Reason reason) {
        return switch (reason) {
            case DNS -> Counter.ORIGIN_FAILURES_DNS;
            case DESTINATION -> Counter.DENIED_FORWARD_DESTINATION;
            case CONNECT_REFUSED -> Counter.ORIGIN_FAILURES_CONNECT;
            case CONNECT_TIMEOUT -> Counter.ORIGIN_FAILURES_CONNECT_TIMEOUT;
            case TLS -> Counter.ORIGIN_FAILURES_TLS;
            case QUEUE_FULL, QUEUE_TIMEOUT -> Counter.ORIGIN_FAILURES_LIMIT;
            case MEMORY -> Counter.ORIGIN_FAILURES_MEMORY;
            case TUNNEL_LIMIT -> Counter.ORIGIN_FAILURES_TUNNEL_LIMIT;
            case NONE_UP -> Counter.ORIGIN_FAILURES_NONE_UP;
            case FIRST_BYTE_TIMEOUT -> Counter.ORIGIN_FAILURES_FIRST_BYTE_TIMEOUT;
            case IDLE_TIMEOUT, REQUEST_TIMEOUT -> Counter.ORIGIN_FAILURES_IDLE_TIMEOUT;
            case EXTENSION -> Counter.DENIED_EXTENSION_FAILED;
            case RESET, TRUNCATED, CANCELLED, INTERNAL -> Counter.ORIGIN_FAILURES_CLOSED;
            case BAD_RESPONSE -> Counter.ORIGIN_FAILURES_MALFORMED;
        };
    }

    /** Returns the log outcome of a failed request to an origin. */
    public static LogOutcome outcomeOf(OriginFailure.Reason reason) {
        return switch (reason) {
            case DNS -> LogOutcome.DNS_FAILED;
            case DESTINATION -> LogOutcome.DENIED;
            case CONNECT_REFUSED, CONNECT_TIMEOUT, TLS, QUEUE_FULL, MEMORY, TUNNEL_LIMIT, NONE_UP ->
                LogOutcome.CONNECT_FAILED;
            case QUEUE_TIMEOUT, FIRST_BYTE_TIMEOUT, IDLE_TIMEOUT, REQUEST_TIMEOUT -> LogOutcome.ORIGIN_TIMEOUT;
            case RESET, TRUNCATED, BAD_RESPONSE -> LogOutcome.ORIGIN_READ_FAILED;
            case CANCELLED, INTERNAL, EXTENSION -> LogOutcome.FAILED;
        };
    }

    /** Returns the counter of a request that is malformed, too large or too slow. */
    public static Counter of(BadRequest reason) {
        return switch (reason) {
            case SYNTAX, FRAMING, TRANSFER_CODING, HOST, TARGET, MISDIRECTED, TUNNEL, VERSION ->
                Counter.CLIENT_FAILURES_MALFORMED;
            case LINE_TOO_LONG -> Counter.CLIENT_FAILURES_LINE_TOO_LONG;
            case HEADER_TOO_LARGE -> Counter.CLIENT_FAILURES_HEADER_TOO_LARGE;
            case CONTENT_TOO_LARGE -> Counter.CLIENT_FAILURES_BODY_TOO_LARGE;
            case CONTENT_RATE -> Counter.CLIENT_FAILURES_SLOW_BODY;
            case CONTENT_INCOMPLETE -> Counter.CLIENT_FAILURES_ABORTED;
            case HEADER_TIMEOUT, CONTENT_TIMEOUT -> Counter.CLIENT_FAILURES_TIMEOUT;
        };
    }

    /** Returns the log outcome of a request that is malformed, too large or too slow. */
    public static LogOutcome outcomeOf(BadRequest reason) {
        return switch (reason) {
            case SYNTAX, FRAMING, LINE_TOO_LONG, HEADER_TOO_LARGE -> LogOutcome.INVALID_REQUEST;
            case TRANSFER_CODING, TUNNEL, VERSION -> LogOutcome.UNSUPPORTED;
            case HOST, TARGET, MISDIRECTED -> LogOutcome.INVALID_URL;
            case CONTENT_TOO_LARGE -> LogOutcome.REQUEST_TOO_LARGE;
            case CONTENT_INCOMPLETE, HEADER_TIMEOUT, CONTENT_TIMEOUT, CONTENT_RATE -> LogOutcome.CLIENT_READ_FAILED;
        };
    }
}
