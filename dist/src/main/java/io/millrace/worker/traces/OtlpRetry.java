package io.millrace.worker.traces;

import java.util.concurrent.TimeUnit;

/** The times between the attempts of one request to the collector: they grow from 1 to 5 seconds. Stateless. */
final class OtlpRetry {
    static final int ATTEMPTS_MAX = 5;

    private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long BACKOFF_MAX_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** Limit for Retry-After, so that an invalid value does not end the export for hours. */
    private static final long ASKED_MAX_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final double FACTOR = 1.5;
    private static final double JITTER = 0.2;

    private OtlpRetry() {}

    /**
     * Returns the time until the next attempt.
     *
     * @param attempts number of attempts so far, from 1
     * @param askedNanos the value of Retry-After; -1 without one
     * @param random from 0 to 1; varies the time by a fifth, because many proxies may lose the same collector at the
     *     same time
     */
    static long delayNanos(int attempts, long askedNanos, double random) {
        if (askedNanos >= 0) {
            return Math.min(askedNanos, ASKED_MAX_NANOS);
        }
        double nanos = Math.min((double) FIRST_NANOS * Math.pow(FACTOR, attempts - 1), (double) BACKOFF_MAX_NANOS);
        return (long) (nanos * (1 - JITTER + 2 * JITTER * random));
    }
}
