package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares the hit ratio of the disk tier with plain LRU on the same requests. */
class DiskHitRatioTest {
    private static final long SEED = 20261121;
    private static final int OBJECTS = 2000;
    private static final int BODY_BYTES = 3900;
    private static final int RECORD_BYTES = 4096 + 40;
    private static final int KEPT = 256;

    private final Random random = new Random(SEED);
    private final double[] sums = new double[OBJECTS];
    private final Map<String, Boolean> lru = new LinkedHashMap<>(16, 0.75f, true);
    private final byte[] body = new byte[BODY_BYTES];
    private int hits;
    private int lruHits;

    DiskHitRatioTest() {
        double sum = 0;
        for (int i = 0; i < OBJECTS; i++) {
            sum += Math.pow(i + 1, -0.9);
            sums[i] = sum;
        }
    }

    private static TestStore open() {
        return new TestStore(
                StoreConfig.builder()
                        .ramBytes(0)
                        .volumes(List.of(new VolumeConfig(Path.of("/volume"), (long) KEPT * RECORD_BYTES)))
                        .segmentBytes(8 * RECORD_BYTES)
                        .blockBytes(8192)
                        .ioThreads(1),
                new FaultyFileIo());
    }

    private String popular() {
        double at = random.nextDouble() * sums[OBJECTS - 1];
        int found = java.util.Arrays.binarySearch(sums, at);
        return "popular" + (found < 0 ? -found - 1 : found);
    }

    private boolean request(TestStore test, String key) {
        lruHits += lru.put(key, true) != null ? 1 : 0;
        if (lru.size() > KEPT) {
            lru.remove(lru.keySet().iterator().next());
        }
        boolean hit = test.store.contains(test.key(key)) && test.head(key) != null;
        if (!hit) {
            test.store.countMiss(test.key(key));
            test.put(key, "head", body);
        }
        test.sync();
        hits += hit ? 1 : 0;
        return hit;
    }

    @Test
    void noWorseThanLruAndAScanLeavesTheWorkingSet() {
        try (TestStore test = open()) {
            for (int i = 0; i < 8000; i++) {
                request(test, popular());
            }
            assertTrue(hits > lruHits, "seed " + SEED + ": hits=" + hits + ", LRU's=" + lruHits);
            int before = 0;
            for (int i = 0; i < 1000; i++) {
                before += request(test, popular()) ? 1 : 0;
            }
            // Writes twice the capacity of the log with keys that are requested once.
            for (int i = 0; i < 2 * KEPT; i++) {
                request(test, "once" + i);
            }
            int after = 0;
            for (int i = 0; i < 1000; i++) {
                after += request(test, popular()) ? 1 : 0;
            }
            assertTrue(after > before * 9 / 10, "seed " + SEED + ": hits before=" + before + ", after=" + after);
        }
    }
}
