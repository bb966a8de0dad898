package io.millrace.acme;

import java.util.concurrent.TimeUnit;

/** Computes the delay after failed orders. It doubles with each failure, from one minute to six hours. Stateless. */
final class RetryDelay {
    private static final long FIRST_SECONDS = 60;
    private static final long MAX_SECONDS = TimeUnit.HOURS.toSeconds(6);

    private RetryDelay() {}

    /** Returns the delay in seconds after {@code failures} consecutive failures. */
    static long seconds(int failures) {
        int doubled = Math.min(Math.max(failures, 1) - 1, 20);
        return Math.min(FIRST_SECONDS << doubled, MAX_SECONDS);
    }

    /**
     * Returns the time of the next order.
     *
     * @param notBeforeSeconds time from the issuer's Retry-After field; 0 for none
     */
    static long next(int failures, long nowSeconds, long notBeforeSeconds) {
        return Math.max(nowSeconds + seconds(failures), notBeforeSeconds);
    }
}
