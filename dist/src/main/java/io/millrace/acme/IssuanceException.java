package io.millrace.acme;

/** An order that brought no certificate, with the reason for the operator. */
final class IssuanceException extends Exception {
    private static final long serialVersionUID = 1;

    private final boolean ordered;
    private final long retrySeconds;

    /**
     * @param ordered whether the issuer took the order, so that it counts against limits
     * @param retrySeconds no order before this time, in seconds since 1970; 0 where the issuer says nothing
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
