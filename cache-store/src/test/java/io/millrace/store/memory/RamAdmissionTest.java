package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares the hit ratio of the tier with that of Caffeine, which receives every hit at once. */
class RamAdmissionTest {
    private static final int KEYS = 20_000;
    private static final int REQUESTS = 300_000;
    private static final int BODY_BYTES = 600;
    private static final double SKEW = 0.9;
    private static final double HALF_A_POINT = 0.005;

    /** Without leak detection, whose stack traces would take most of the time. Other tests detect leaks. */
    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);

    /** Returns a Zipf trace over drifting keys. One request in ten is for a key that is never requested again. */
    private static int[] trace(Random random) {
        double[] cumulative = new double[KEYS];
        double sum = 0;
        for (int i = 0; i < KEYS; i++) {
            sum += 1 / Math.pow(i + 1, SKEW);
            cumulative[i] = sum;
        }
        int[] trace = new int[REQUESTS];
        for (int i = 0; i < REQUESTS; i++) {
            if (random.nextInt(10) == 0) {
                trace[i] = 10 * KEYS + i;
            } else {
                int at = java.util.Arrays.binarySearch(cumulative, random.nextDouble() * sum);
                trace[i] = ((at < 0 ? -at - 1 : at) + i / 100_000 * 500) % KEYS;
            }
        }
        return trace;
    }

    private RamEntry entry(int key) {
        byte[] bytes = Integer.toString(key).getBytes(StandardCharsets.US_ASCII);
        return new RamEntry(bytes, hash(key), allocator.directBuffer(BODY_BYTES).writerIndex(BODY_BYTES), 0) {};
    }

    private static long hash(int key) {
        return (key + 1) * 0x9E37_79B9_7F4A_7C15L;
    }

    private double hitRatioOfTheTier(int[] trace, long bytesMax) {
        RamTier<RamEntry> tier = new RamTier<>(bytesMax, Runnable::run);
        int hits = 0;
        for (int key : trace) {
            RamEntry found = tier.get(hash(key), Integer.toString(key).getBytes(StandardCharsets.US_ASCII));
            if (found == null) {
                RamEntry entry = entry(key);
                tier.put(entry);
                entry.releaseEntry();
            } else {
                found.releaseEntry();
                hits++;
            }
        }
        tier.clear();
        return (double) hits / trace.length;
    }

    private double hitRatioOfCaffeine(int[] trace, long bytesMax) {
        RamEntry sample = entry(KEYS);
        int weight = sample.weight();
        sample.releaseEntry();
        Cache<Long, Boolean> cache = Caffeine.newBuilder()
                .maximumWeight(bytesMax)
                .weigher((Long key, Boolean value) -> weight)
                .executor(Runnable::run)
                .build();
        int hits = 0;
        for (int key : trace) {
            if (cache.getIfPresent(hash(key)) == null) {
                cache.put(hash(key), true);
            } else {
                hits++;
            }
        }
        return (double) hits / trace.length;
    }

    @Test
    void isWithinHalfAPointOfCaffeine() {
        long seed = 20_261_121;
        int[] trace = trace(new Random(seed));
        for (int percent : new int[] {1, 5, 10, 25}) {
            long bytesMax = (long) KEYS * (BODY_BYTES + 330) / 100 * percent;
            double tier = hitRatioOfTheTier(trace, bytesMax);
            double caffeine = hitRatioOfCaffeine(trace, bytesMax);
            System.out.println(percent + " % of the footprint: tier " + tier + ", Caffeine " + caffeine);
            assertTrue(tier > caffeine - HALF_A_POINT, percent + " %: tier " + tier + ", Caffeine " + caffeine);
        }
    }
}
