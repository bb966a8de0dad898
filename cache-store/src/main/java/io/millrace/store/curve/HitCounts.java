package io.millrace.store.curve;

import io.millrace.store.curve.CurveReport.Point;
import io.millrace.store.curve.CurveReport.Ratio;

/**
 * Requests, hits and their bytes of all simulated caches. Confined to the thread that computes the curve of hit ratios.
 */
final class HitCounts {
    private static final int TINY_LFU = 0;
    private static final int LRU = 1;
    private static final int S3_FIFO = 2;
    private static final int POLICIES = 3;

    private final double[][] hits;
    private final double[][] hitBytes;
    private double requests;
    private double bytes;
    /** Sampled requests since the last call of {@link #expect}. */
    private double actual;
    /**
     * Expected minus actual number of sampled requests. It is added to the hits and to the requests, which corrects the
     * error of the sample (SHARDS-adj).
     */
    private double missing;

    HitCounts(int sizes) {
        hits = new double[POLICIES][sizes];
        hitBytes = new double[POLICIES][sizes];
    }

    void request(int size) {
        requests++;
        bytes += size;
        actual++;
    }

    void hits(int index, int size, boolean tinyLfu, boolean lru, boolean s3Fifo) {
        hit(TINY_LFU, index, size, tinyLfu);
        hit(LRU, index, size, lru);
        hit(S3_FIFO, index, size, s3Fifo);
    }

    private void hit(int policy, int index, int size, boolean isHit) {
        if (isHit) {
            hits[policy][index]++;
            hitBytes[policy][index] += size;
        }
    }

    /** Adds the expected number of sampled requests since the previous call, for the correction of the sample. */
    void expect(double expected) {
        missing += expected - actual;
        actual = 0;
    }

    /** Applies no correction to the requests since the previous call of this method or of {@link #expect}. */
    void expectActual() {
        actual = 0;
    }

    double requests() {
        return requests;
    }

    /** Converts all counts to another sample rate. */
    void scale(double factor) {
        decay(factor);
        actual *= factor;
    }

    void decay(double factor) {
        requests *= factor;
        bytes *= factor;
        missing *= factor;
        for (int policy = 0; policy < POLICIES; policy++) {
            for (int i = 0; i < hits[policy].length; i++) {
                hits[policy][i] *= factor;
                hitBytes[policy][i] *= factor;
            }
        }
    }

    Point point(double scale, long ramBytes, int index) {
        return new Point(scale, ramBytes, ratio(TINY_LFU, index), ratio(LRU, index), ratio(S3_FIFO, index));
    }

    private Ratio ratio(int policy, int index) {
        double all = requests + missing;
        double corrected = all <= 0 ? 0 : (hits[policy][index] + missing) / all;
        return new Ratio(
                Math.max(0, Math.min(1, corrected)), bytes <= 0 ? 0 : Math.min(1, hitBytes[policy][index] / bytes));
    }
}
