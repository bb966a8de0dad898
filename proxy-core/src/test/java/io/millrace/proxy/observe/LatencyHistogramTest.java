package io.millrace.proxy.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LatencyHistogramTest {
    @Test
    void everyDurationFallsIntoTheFirstBucketWhoseBoundIsNotSmaller() {
        long seed = new Random().nextLong();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 100_000; i++) {
            long nanos = random.nextLong() >>> random.nextInt(64) >>> 1;
            assertEquals(bucketBySearch(nanos), LatencyHistogram.bucketOf(nanos), () -> "duration " + nanos);
        }
    }

    @Test
    void boundsAreInclusive() {
        for (int bucket = 0; bucket < LatencyHistogram.bucketCount() - 1; bucket++) {
            long bound = LatencyHistogram.boundNanos(bucket);
            assertEquals(bucket, LatencyHistogram.bucketOf(bound));
            assertEquals(bucket, LatencyHistogram.bucketOf(bound - 1));
            assertEquals(bucket + 1, LatencyHistogram.bucketOf(bound + 1));
        }
    }

    @Test
    void coversTenMicrosecondsToFiftySeconds() {
        assertEquals(TimeUnit.MICROSECONDS.toNanos(10), LatencyHistogram.boundNanos(0));
        assertEquals(TimeUnit.SECONDS.toNanos(50), LatencyHistogram.boundNanos(LatencyHistogram.bucketCount() - 2));
        assertEquals(Long.MAX_VALUE, LatencyHistogram.boundNanos(LatencyHistogram.bucketCount() - 1));
    }

    @Test
    void countsEveryDurationOnceAndSumsThem() {
        LatencyHistogram histogram = new LatencyHistogram();
        histogram.record(5);
        histogram.record(TimeUnit.MILLISECONDS.toNanos(3));
        histogram.record(TimeUnit.MINUTES.toNanos(3));
        histogram.record(-7);

        long[] counts = new long[LatencyHistogram.bucketCount()];
        histogram.addCountsTo(counts);
        long total = 0;
        for (long count : counts) {
            assertTrue(count >= 0);
            total += count;
        }
        assertEquals(4, total);
        assertEquals(2, counts[0]);
        assertEquals(1, counts[counts.length - 1]);
        assertEquals(5 + TimeUnit.MILLISECONDS.toNanos(3) + TimeUnit.MINUTES.toNanos(3), histogram.sumNanos());
    }

    private static int bucketBySearch(long nanos) {
        int bucket = 0;
        while (nanos > LatencyHistogram.boundNanos(bucket)) {
            bucket++;
        }
        return bucket;
    }
}
