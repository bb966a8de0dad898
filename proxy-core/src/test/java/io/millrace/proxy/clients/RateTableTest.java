package io.millrace.proxy.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RateTableTest {
    private static final long SECOND = 1_000_000_000L;

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5 * SECOND);

    private RateTable table(int slots) {
        return new RateTable(slots, now::get, new SecureRandom());
    }

    @Test
    void admitsTheBurstAndThenTheRate() {
        RateTable table = table(64);
        for (int i = 0; i < 5; i++) {
            assertEquals((i + 1) * SECOND, table.take(7, SECOND, 5));
        }
        assertEquals(-SECOND, table.take(7, SECOND, 5));
        now.addAndGet(SECOND - 1);
        assertEquals(-1, table.peek(7, SECOND, 5));
        assertEquals(-1, table.take(7, SECOND, 5));
        now.addAndGet(1);
        assertEquals(5 * SECOND, table.peek(7, SECOND, 5));
        assertEquals(5 * SECOND, table.take(7, SECOND, 5));
        assertTrue(table.take(7, SECOND, 5) < 0);
        assertEquals(SECOND, table.take(8, SECOND, 5), "another key");
        assertEquals(2, table.keys());
        now.addAndGet(10 * SECOND);
        assertEquals(0, table.keys());
    }

    /** Compares with a bucket that fills by one token per interval, over the overflow of the clock. */
    @Test
    void equalsATokenBucket() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        RateTable table = table(1 << 12);
        Map<Long, double[]> buckets = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            now.addAndGet(random.nextInt(40) * SECOND / 100);
            long key = 1L + random.nextInt(5);
            int burst = 1 + (int) key;
            double time = now.get() - (Long.MAX_VALUE - 5 * SECOND);
            double[] bucket = buckets.computeIfAbsent(key, k -> new double[] {burst, time});
            bucket[0] = Math.min(burst, bucket[0] + (time - bucket[1]) / SECOND);
            bucket[1] = time;
            boolean admitted = bucket[0] >= 1 - 1e-9;
            bucket[0] -= admitted ? 1 : 0;
            assertEquals(admitted, table.take(key * 0x9E3779B97F4A7C15L, SECOND, burst) >= 0, "seed " + seed + " " + i);
        }
    }

    @Test
    void theKeyNearestToItsBurstIsForgotten() {
        RateTable table = table(8);
        for (int key = 1; key <= 8; key++) {
            for (int i = 0; i < key; i++) {
                table.take(key, SECOND, 10);
            }
        }
        assertEquals(0, table.evictions());
        assertEquals(SECOND, table.take(100, SECOND, 10));
        assertEquals(1, table.evictions());
        assertEquals(3 * SECOND, table.take(2, SECOND, 10), "key 2 is kept");
        now.addAndGet(20 * SECOND);
        for (int key = 200; key < 208; key++) {
            table.take(key, SECOND, 10);
        }
        assertEquals(1, table.evictions(), "keys with their whole burst leave their slots");
    }

    @Test
    void threadsShareALimit() throws Exception {
        RateTable table = table(1 << 10);
        List<Thread> threads = new ArrayList<>();
        AtomicLong admitted = new AtomicLong();
        CountDownLatch start = new CountDownLatch(1);
        for (int t = 0; t < 4; t++) {
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                for (int i = 0; i < 10_000; i++) {
                    admitted.addAndGet(table.take(1, SECOND, 5000) >= 0 ? 1 : 0);
                }
            });
            thread.start();
            threads.add(thread);
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        long count = admitted.get();
        assertTrue(count >= 5000 && count <= 5004, "admitted " + count);
    }

    /** The promise of the design: a million clients keep their state, in at most 64 MB. */
    @Test
    void aMillionClientsFit() {
        assertTrue(8L * 2 * RateTable.SLOTS <= 64_000_000);
        RateTable table = new RateTable(RateTable.SLOTS, now::get, new SecureRandom());
        KeyHash hash = table.newHash();
        for (int client = 0; client < 1_000_000; client++) {
            table.take(hash.begin().add(client).end(), SECOND, 10);
        }
        assertTrue(table.evictions() < 20_000, "evictions: " + table.evictions());
        assertEquals(1_000_000 - table.evictions(), table.keys());
    }
}
