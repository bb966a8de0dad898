package io.millrace.acme;

import java.util.concurrent.TimeUnit;

/** Pause after failed orders: doubled each time, from one minute to six hours. No state. */
final class RetryDelay {
    private static final long FIRST_SECONDS = 60;
    private static final long MAX_SECONDS = TimeUnit.HOURS.toSeconds(6);

    private RetryDelay() {}

    /** The pause after this many failures in a row, at least one. */
    static long seconds(int failures) {
        int doubled = Math.min(Math.max(failures, 1) - 1, 20);
        return Math.min(FIRST_SECONDS << doubled, MAX_SECONDS);
    }

    /**
     * When to order again.
     *
     * @param notBeforeSeconds what the issuer asks for by Retry-After; 0 for nothing
     */
    static long next(int failures, long nowSeconds, long notBeforeSeconds) {
        return Math.max(nowSeconds + seconds(failures), notBeforeSeconds);
    }
}
