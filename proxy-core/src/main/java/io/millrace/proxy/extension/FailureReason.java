package io.millrace.proxy.extension;

/** The reasons why a call of a hook failed. */
public enum FailureReason {
    /** The hook threw an exception, or reported a failure. */
    EXCEPTION("exception"),
    /** The hook added too many fields or bytes. */
    LIMIT("limit"),
    /** No result arrived before the deadline. */
    DEADLINE("deadline"),
    /** A second result arrived, or a result arrived after the deadline. The proxy ignored it. */
    REPEATED("repeated"),
    /** The hook was not called, because its circuit breaker is open. */
    CIRCUIT_OPEN("circuit_open"),
    /** The hook occupied an event loop for more than a second. */
    BLOCKED("blocked");

    private final String label;

    FailureReason(String label) {
        this.label = label;
    }

    /** The name in metrics, logs and the admin API. */
    public String label() {
        return label;
    }
}
