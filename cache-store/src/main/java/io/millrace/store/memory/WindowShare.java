package io.millrace.store.memory;

/**
 * The share of the window in the limit of an {@link EvictionPolicy}, adapted to the requests. The share grows while a
 * byte of the window has more hits than a byte of the main part, and shrinks while it has fewer. A step is in
 * proportion to the logarithm of the ratio of both, so that it is small near the balance. The hits of both are counted
 * over the same requests. Source: the hill climber of Caffeine 3.3, https://github.com/ben-manes/caffeine.
 *
 * <p>Not thread-safe: guarded by the lock of the policy.
 */
final class WindowShare {
    private static final double SHARE_MIN = 0.01;
    private static final double SHARE_MAX = 0.8;
    private static final double STEP_MAX = 0.0625;
    /** Step if the ratio is e. */
    private static final double GAIN = 0.03;
    /** Number of requests per entry after which the share changes. */
    private static final int REQUESTS_PER_ENTRY = 3;

    private static final int REQUESTS_MIN = 160;

    private double share = SHARE_MIN;
    private long windowHits;
    private long mainHits;
    private long misses;

    /** Returns the share, from 0 to 1. */
    double share() {
        return share;
    }

    void countHit(boolean inWindow) {
        if (inWindow) {
            windowHits++;
        } else {
            mainHits++;
        }
    }

    void countMiss() {
        misses++;
    }

    /** Changes the share if enough requests were counted; returns true if it changed. */
    boolean adapt(long entries) {
        long requests = windowHits + mainHits + misses;
        if (requests < Math.max(REQUESTS_MIN, REQUESTS_PER_ENTRY * entries)) {
            return false;
        }
        // One hit is added to each, so that the ratio is defined.
        double ratio = (windowHits + 1) / share / ((mainHits + 1) / (1 - share));
        double step = Math.max(-STEP_MAX, Math.min(GAIN * Math.log(ratio), STEP_MAX));
        double before = share;
        share = Math.max(SHARE_MIN, Math.min(share + step, SHARE_MAX));
        windowHits = 0;
        mainHits = 0;
        misses = 0;
        return share != before;
    }
}
