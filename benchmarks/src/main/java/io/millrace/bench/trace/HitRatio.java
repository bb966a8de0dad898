package io.millrace.bench.trace;

/**
 * The hit ratios of the replay of a trace.
 *
 * @param objects percentage of requests that were hits
 * @param bytes percentage of requested bytes that were hits
 * @param writeAmplification bytes written to disk per byte of new records; 0 without a disk
 */
public record HitRatio(double objects, double bytes, double writeAmplification) {
    /** Counts requests and hits. Confined to one thread. */
    static final class Counter {
        private long requests;
        private long hits;
        private long bytes;
        private long hitBytes;

        void count(int size, boolean hit) {
            requests++;
            bytes += size;
            if (hit) {
                hits++;
                hitBytes += size;
            }
        }

        HitRatio ratio(double writeAmplification) {
            return new HitRatio(
                    100.0 * hits / Math.max(1, requests), 100.0 * hitBytes / Math.max(1, bytes), writeAmplification);
        }
    }
}
