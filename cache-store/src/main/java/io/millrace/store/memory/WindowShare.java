package io.millrace.store.memory;

/**
 * The share of the window in the limit of an {@link EvictionPolicy}, adapted to the requests by hill climbing: the
 * share changes in steps, and the direction reverses when the hit ratio has fallen since the last step. Source: Einziger,
 * Eytan, Friedman and Manes, "Adaptive software cache management", 2018.
 *
 * <p>Not thread-safe: guarded by the lock of the policy.
 */
final class WindowShare {
    private static final double FIRST_SHARE = 0.01;
    private static final double SHARE_MIN = 0.001;
    private static final double SHARE_MAX = 0.8;
    private static final double FIRST_STEP = 0.0625;
    /** Factor of each step, so that the share settles. */
    private static final double DECAY = 0.98;
    /** Change of the hit ratio from which the steps are large again, because the requests have changed. */
    private static final double RESTART_CHANGE = 0.05;
    /** Number of requests per entry after which the share changes. */
    private static final int REQUESTS_PER_ENTRY = 10;

    private static final int REQUESTS_MIN = 160;

    private double share = FIRST_SHARE;
    private double step = -FIRST_STEP;
    private long hits;
    private long misses;
    private double lastHitRatio;

    /** Returns the share, from 0 to 1. */
    double share() {
        return share;
    }

    void countHit() {
        hits++;
    }

    void countMiss() {
        misses++;
    }

    /** Changes the share if enough requests were counted; returns true if it changed. */
    boolean adapt(long entries) {
        long requests = hits + misses;
        if (requests < Math.max(REQUESTS_MIN, REQUESTS_PER_ENTRY * entries)) {
            return false;
        }
        double hitRatio = (double) hits / requests;
        double change = hitRatio - lastHitRatio;
        double amount = change >= 0 ? step : -step;
        step = Math.abs(change) >= RESTART_CHANGE ? Math.copySign(FIRST_STEP, amount) : DECAY * amount;
        lastHitRatio = hitRatio;
        hits = 0;
        misses = 0;
        double before = share;
        share = Math.max(SHARE_MIN, Math.min(share + amount, SHARE_MAX));
        return share != before;
    }
}
