package io.millrace.proxy.observe;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A histogram of durations with fixed buckets, for one event loop. There are three buckets per decade (1, 2, 5) from 10
 * microseconds to 50 seconds, and one bucket for longer durations. Stores in opaque mode ({@code VarHandle.setOpaque})
 * let a scrape on another thread read complete values. A scrape may see some counts of a request before its other
 * counts.
 *
 * <p>Recording is confined to one event loop; reading is thread-safe.
 */
public final class LatencyHistogram {
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

    /**
     * Upper bounds, inclusive, in nanoseconds. Durations with the same bit length fall into at most two adjacent
     * buckets.
     */
    private static final long[] BOUNDS_NANOS = bounds();

    /** The lower of the possible buckets of a duration, indexed by the bit length of the duration. */
    private static final byte[] FIRST_BUCKET = firstBuckets();

    /** Index of the bucket for durations above the last bound. */
    private static final int OVERFLOW = BOUNDS_NANOS.length;

    /** Index of the sum of all durations, in nanoseconds. */
    private static final int SUM = OVERFLOW + 1;

    /** Shortest time between two exemplars of a bucket. */
    private static final long EXEMPLAR_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Eight longs fill a cache line, so that the counts of two loops never share a line. */
    private static final int PADDING = 8;

    private final long[] counts = new long[PADDING + SUM + 1 + PADDING];

    /** The latest traced request of each bucket; a new one replaces it after a second at the earliest. */
    private final AtomicReferenceArray<@Nullable TraceExemplar> exemplars = new AtomicReferenceArray<>(bucketCount());

    /**
     * Keeps a traced request as the exemplar of its bucket. Each bucket takes at most one request per second, so that
     * many traced requests allocate little.
     */
    void keepExemplar(long durationNanos, long endNanos, long endMillis, long traceHigh, long traceLow, long spanId) {
        int bucket = bucketOf(Math.max(durationNanos, 0));
        TraceExemplar last = exemplars.getPlain(bucket);
        if (last == null || endNanos - last.endNanos() >= EXEMPLAR_NANOS) {
            exemplars.setRelease(
                    bucket, new TraceExemplar(durationNanos, endNanos, endMillis, traceHigh, traceLow, spanId));
        }
    }

    /** Returns the exemplar of a bucket; null without one. Callable by any thread. */
    @Nullable
    TraceExemplar exemplar(int bucket) {
        return exemplars.getAcquire(bucket);
    }

    /** Adds one duration. A negative duration counts as 0. */
    public void record(long durationNanos) {
        long nanos = Math.max(durationNanos, 0);
        add(bucketOf(nanos), 1);
        add(SUM, nanos);
    }

    static int bucketOf(long nanos) {
        int bucket = FIRST_BUCKET[Long.SIZE - Long.numberOfLeadingZeros(nanos)];
        return bucket < OVERFLOW && nanos > BOUNDS_NANOS[bucket] ? bucket + 1 : bucket;
    }

    private void add(int index, long amount) {
        LONGS.setOpaque(counts, PADDING + index, counts[PADDING + index] + amount);
    }

    /** Adds the bucket counts of this histogram to {@code sums}, an array of {@link #bucketCount()} elements. */
    void addCountsTo(long[] sums) {
        for (int i = 0; i <= OVERFLOW; i++) {
            sums[i] += (long) LONGS.getOpaque(counts, PADDING + i);
        }
    }

    long sumNanos() {
        return (long) LONGS.getOpaque(counts, PADDING + SUM);
    }

    /** The number of buckets, including the unbounded one. */
    static int bucketCount() {
        return OVERFLOW + 1;
    }

    /** Returns the inclusive upper bound of a bucket in nanoseconds; {@link Long#MAX_VALUE} for the last one. */
    static long boundNanos(int bucket) {
        return bucket < OVERFLOW ? BOUNDS_NANOS[bucket] : Long.MAX_VALUE;
    }

    private static long[] bounds() {
        long[] bounds = new long[21];
        long decade = TimeUnit.MICROSECONDS.toNanos(10);
        for (int i = 0; i < bounds.length; i += 3) {
            bounds[i] = decade;
            bounds[i + 1] = 2 * decade;
            bounds[i + 2] = 5 * decade;
            decade *= 10;
        }
        return bounds;
    }

    private static byte[] firstBuckets() {
        byte[] first = new byte[Long.SIZE + 1];
        for (int bits = 1; bits <= Long.SIZE; bits++) {
            long smallest = 1L << Math.min(bits - 1, Long.SIZE - 2);
            byte bucket = 0;
            while (bucket < BOUNDS_NANOS.length && smallest > BOUNDS_NANOS[bucket]) {
                bucket++;
            }
            first[bits] = bucket;
        }
        return first;
    }
}
