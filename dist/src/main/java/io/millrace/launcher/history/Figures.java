package io.millrace.launcher.history;

import java.util.Arrays;

/**
 * The values of a worker's counters and histograms, or their increases within some time. Mutable; not thread-safe.
 *
 * <p>The order of the counters, histograms and buckets is part of the file format: see {@link Slot}.
 */
final class Figures {
    // Indexes of the counters.
    static final int REQUESTS = 0;
    static final int HITS = 1;
    static final int SENT_BYTES = 2;
    static final int ORIGIN_BYTES = 3;
    static final int ORIGIN_REQUESTS = 4;
    static final int ORIGIN_FAILURES = 5;
    static final int ERRORS = 6;

    /** Number of counters. */
    static final int COUNTS = 7;

    // Indexes of the histograms.
    static final int HIT_LATENCY = 0;
    static final int MISS_LATENCY = 1;
    static final int ORIGIN_LATENCY = 2;

    /** Number of histograms. */
    static final int HISTOGRAMS = 3;

    /**
     * Inclusive upper bounds of the buckets in microseconds, as in the worker's histograms. One more bucket has no
     * bound.
     */
    private static final long[] BOUNDS_MICROS = {
        10,
        20,
        50,
        100,
        200,
        500,
        1_000,
        2_000,
        5_000,
        10_000,
        20_000,
        50_000,
        100_000,
        200_000,
        500_000,
        1_000_000,
        2_000_000,
        5_000_000,
        10_000_000,
        20_000_000,
        50_000_000
    };

    /** Number of buckets of a histogram, including the one without a bound. */
    static final int BUCKETS = BOUNDS_MICROS.length + 1;

    private final long[] counts = new long[COUNTS];
    private final long[][] buckets = new long[HISTOGRAMS][BUCKETS];
    private long measuredMillis;

    static long[] boundsMicros() {
        return BOUNDS_MICROS.clone();
    }

    /** Returns the bucket with the upper bound in seconds; -1 if no bucket has it. */
    static int bucket(double boundSeconds) {
        if (boundSeconds == Double.POSITIVE_INFINITY) {
            return BUCKETS - 1;
        }
        int found = Arrays.binarySearch(BOUNDS_MICROS, Math.round(boundSeconds * 1e6));
        return found < 0 ? -1 : found;
    }

    long count(int counter) {
        return counts[counter];
    }

    void add(int counter, long amount) {
        counts[counter] += amount;
    }

    long bucket(int histogram, int bucket) {
        return buckets[histogram][bucket];
    }

    void addBucket(int histogram, int bucket, long amount) {
        buckets[histogram][bucket] += amount;
    }

    /** Returns a copy of a histogram. */
    long[] histogram(int histogram) {
        return buckets[histogram].clone();
    }

    /** Time that these figures cover, in milliseconds, without times in which no worker answered. */
    long measuredMillis() {
        return measuredMillis;
    }

    void measured(long millis) {
        measuredMillis += millis;
    }

    /** Adds other figures to these. */
    void add(Figures other) {
        measuredMillis += other.measuredMillis;
        for (int i = 0; i < COUNTS; i++) {
            counts[i] += other.counts[i];
        }
        for (int h = 0; h < HISTOGRAMS; h++) {
            for (int i = 0; i < BUCKETS; i++) {
                buckets[h][i] += other.buckets[h][i];
            }
        }
    }

    /** Returns the increases since an earlier sample of the same counters. A lower value counts as no increase. */
    Figures since(Figures earlier) {
        Figures increase = new Figures();
        for (int i = 0; i < COUNTS; i++) {
            increase.counts[i] = Math.max(0, counts[i] - earlier.counts[i]);
        }
        for (int h = 0; h < HISTOGRAMS; h++) {
            for (int i = 0; i < BUCKETS; i++) {
                increase.buckets[h][i] = Math.max(0, buckets[h][i] - earlier.buckets[h][i]);
            }
        }
        return increase;
    }
}
