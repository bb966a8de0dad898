package io.millrace.acme;

/** A failed order, with the reason for the operator. */
final class IssuanceException extends Exception {
    private static final long serialVersionUID = 1;

    private final boolean ordered;
    private final long retrySeconds;

    /**
     * @param ordered whether the issuer accepted the order, so that it counts against limits
     * @param retrySeconds earliest time of the next order, in seconds since 1970; 0 if the issuer sets none
     */
    IssuanceException(String message, boolean ordered, long retrySeconds, Throwable cause) {
        super(message, cause);
        this.ordered = ordered;
        this.retrySeconds = retrySeconds;
    }

    boolean isOrdered() {
        return ordered;
    }

    long retrySeconds() {
        return retrySeconds;
    }
}
