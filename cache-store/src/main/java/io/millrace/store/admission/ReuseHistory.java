package io.millrace.store.admission;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A sample of past admission decisions, which measures how often objects of each class are requested again. The
 * segments of a volume form a ring, which the volume overwrites from the oldest segment on. The reuse rate of a class
 * is the fraction of its objects, kept or not, that were requested again within one pass through the ring.
 *
 * <p>A decision to keep or drop an object adds its key to a table, with the class and the time. The time unit is one
 * segment begun. The next request for the key removes the entry and counts as reuse. An entry that is older than one
 * pass through the ring is removed and counts as no reuse. If there are more keys than slots, only a sample of keys,
 * chosen by hash, is recorded.
 *
 * <pre>
 *   slot: fingerprint of the key (32 bits), class (8), segments begun (24)
 * </pre>
 *
 * <p>Thread-safe: {@link #decided} and {@link #recordRequest} from any thread; {@link #segmentBegun},
 * {@link #addRecentResults} and {@link #reuseRate} by one thread at a time.
 */
final class ReuseHistory {
    private static final int SLOTS_MIN = 1 << 10;
    private static final int SLOTS_MAX = 1 << 16;
    private static final long FINGERPRINT_MASK = -1L << 32;
    private static final int TIME_MASK = (1 << 24) - 1;
    /** Slots per object, because there may be several decisions about an object in one pass through the ring. */
    private static final int SLOTS_PER_OBJECT = 4;

    /** Minimum number of results after which all results are halved. */
    private static final int HALVE_AFTER_MIN = 200;

    private final int segmentsPerPass;
    private final AtomicLongArray slots;
    private final int mask;
    /** Number of finished decisions per class since the last {@link #addRecentResults}. */
    private final AtomicIntegerArray recentDecisions;

    private final AtomicIntegerArray recentReuses;
    private final double[] decisions;
    private final double[] reuses;
    private volatile int segmentsBegun = 1;
    private volatile int sampleShift;
    private double resultsSinceHalving;

    /**
     * Creates an empty history.
     *
     * @param classes number of classes, at most 255
     * @param segments number of segments of the volume
     * @param slotsWanted approximate number of slots
     */
    ReuseHistory(int classes, int segments, long slotsWanted) {
        segmentsPerPass = segments;
        int count = SLOTS_MIN;
        while (count < SLOTS_MAX && count < slotsWanted) {
            count <<= 1;
        }
        slots = new AtomicLongArray(count);
        mask = count - 1;
        recentDecisions = new AtomicIntegerArray(classes);
        recentReuses = new AtomicIntegerArray(classes);
        decisions = new double[classes];
        reuses = new double[classes];
    }

    /** Records a decision about an object of this class. Any thread. */
    void decided(long hash, int cls) {
        long mixed = mix(hash);
        if (!isSampled(mixed)) {
            return;
        }
        int at = (int) mixed & mask;
        long now = (mixed & FINGERPRINT_MASK) | ((long) (cls + 1) << 24) | (segmentsBegun & TIME_MASK);
        long before = slots.getAndSet(at, now);
        // If the slot already has this value, the decision was added before, for another record of the same object, and
        // does not count twice.
        if (before != 0 && before != now && (before >>> 32 == mixed >>> 32 || isExpired(before))) {
            recentDecisions.incrementAndGet(classOf(before));
        }
    }

    /** Records a request for the key. Any thread. */
    void recordRequest(long hash) {
        long mixed = mix(hash);
        int at = (int) mixed & mask;
        long found = slots.getOpaque(at);
        if (found >>> 32 == mixed >>> 32 && found != 0 && slots.compareAndSet(at, found, 0)) {
            recentDecisions.incrementAndGet(classOf(found));
            if (!isExpired(found)) {
                recentReuses.incrementAndGet(classOf(found));
            }
        }
    }

    private boolean isSampled(long mixed) {
        return ((mixed >>> 16) & ((1L << sampleShift) - 1)) == 0;
    }

    private boolean isExpired(long slot) {
        return ((segmentsBegun - (int) slot) & TIME_MASK) > segmentsPerPass;
    }

    private static int classOf(long slot) {
        return (int) ((slot >>> 24) & 0xFF) - 1;
    }

    private static long mix(long hash) {
        long z = (hash ^ (hash >>> 31)) * 0xD6E8_FEB8_6659_FD93L;
        return z ^ (z >>> 32);
    }

    /** Advances the time by one segment. Counts entries older than one pass through the ring as not reused. */
    void segmentBegun(long objects) {
        segmentsBegun = (segmentsBegun + 1) & TIME_MASK;
        int shift = 0;
        while ((objects * SLOTS_PER_OBJECT) >>> shift > slots.length()) {
            shift++;
        }
        sampleShift = shift;
        for (int at = 0; at < slots.length(); at++) {
            long slot = slots.getOpaque(at);
            if (slot != 0 && isExpired(slot) && slots.compareAndSet(at, slot, 0)) {
                recentDecisions.incrementAndGet(classOf(slot));
            }
        }
        addRecentResults(objects);
    }

    /**
     * Adds recent results to those that {@link #reuseRate} uses. Halves all results from time to time, so that old ones
     * lose weight.
     */
    void addRecentResults(long objects) {
        for (int cls = 0; cls < decisions.length; cls++) {
            int now = recentDecisions.getAndSet(cls, 0);
            decisions[cls] += now;
            reuses[cls] += recentReuses.getAndSet(cls, 0);
            resultsSinceHalving += now;
        }
        if (resultsSinceHalving > Math.max(HALVE_AFTER_MIN, (2 * objects) >>> sampleShift)) {
            resultsSinceHalving = 0;
            for (int cls = 0; cls < decisions.length; cls++) {
                decisions[cls] /= 2;
                reuses[cls] /= 2;
            }
        }
    }

    /**
     * Returns the reuse rate, 0 to 1, of the classes from {@code from} (inclusive) to {@code to} (exclusive).
     *
     * @param expected rate that is assumed before there are results; it counts as one result
     */
    double reuseRate(int from, int to, double expected) {
        double sumDecisions = 1;
        double sumReuses = expected;
        for (int cls = from; cls < to; cls++) {
            sumDecisions += decisions[cls];
            sumReuses += reuses[cls];
        }
        return Math.min(1, sumReuses / sumDecisions);
    }
}
