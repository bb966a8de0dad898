package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RamTierTest {
    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    private final RamTier<Entry> tier = new RamTier<>(200_000, Runnable::run);

    private final class Entry extends RamEntry {
        Entry(String key, int length) {
            super(
                    bytes(key),
                    hash(key),
                    allocator.directBuffer(Math.max(1, length)).writeZero(length),
                    10);
        }
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.US_ASCII);
    }

    /** Some keys have the same hash. */
    private static long hash(String key) {
        return (key.hashCode() % 1000) * 0x9E37_79B9_7F4A_7C15L;
    }

    private Entry put(String key, int length) {
        return putInto(tier, key, length);
    }

    private Entry get(String key) {
        return tier.get(hash(key), bytes(key));
    }

    @AfterEach
    void givesEveryBufferBack() {
        tier.clear();
        assertEquals(0, tier.bytes());
        assertEquals(0, tier.entries());
        assertEquals(0, allocator.metric().usedDirectMemory());
    }

    /** The thread that has used the tier lives on. The executor of the tier's policy may reference a whole store. */
    @Test
    void unreferencedTierIsNotKeptByThreadsThatUsedIt() {
        WeakReference<Executor> store = askTierOfItsOwn();
        for (int i = 0; i < 1000 && store.get() != null; i++) {
            System.gc();
        }
        assertNull(store.get());
    }

    private WeakReference<Executor> askTierOfItsOwn() {
        Executor store = new Executor() {
            @Override
            public void execute(Runnable task) {
                task.run();
            }
        };
        RamTier<Entry> other = new RamTier<>(64 << 20, store);
        Entry entry = new Entry("a", 1000);
        other.put(entry);
        for (int i = 0; i < 3; i++) {
            other.get(hash("a"), bytes("a")).releaseEntry();
        }
        other.clear();
        entry.releaseEntry();
        return new WeakReference<>(store);
    }

    @Test
    void findsByKeyAndCountsBytes() {
        Entry entry = put("a", 1000);
        Entry found = get("a");
        assertSame(entry, found);
        found.releaseEntry();
        assertNull(get("b"));
        assertEquals(entry.weight(), tier.bytes());
        assertTrue(entry.weight() >= 1000 + 1 + 10);
        assertTrue(tier.remove(hash("a"), bytes("a")));
        assertFalse(tier.remove(hash("a"), bytes("a")));
    }

    @Test
    void weighsTheSizeClassOfTheAllocator() {
        var pooled = new PooledByteBufAllocator(true, 0, 1, 8192, 9, 0, 0, false);
        var entry = new RamEntry(bytes("k"), 1, pooled.directBuffer(1100).writeZero(1100), 0) {};
        assertTrue(entry.weight() >= 1280, () -> "weight " + entry.weight());
        entry.releaseEntry();
    }

    @Test
    void staysWithinItsBudget() {
        Random random = new Random(1);
        for (int i = 0; i < 5000; i++) {
            put("k" + i, random.nextInt(3000));
            assertTrue(tier.bytes() <= tier.bytesMax(), () -> "bytes " + tier.bytes());
        }
        assertTrue(tier.evictions() > 1000);
        assertTrue(tier.entries() > 20);
    }

    @Test
    void entryThatGrowsCountsMore_asLongAsItIsIn() {
        Entry entry = put("a", 1000);
        int before = entry.weight();
        tier.addHeapBytes(entry, 500);
        assertEquals(before + 500, entry.weight());
        assertEquals(before + 500, tier.bytes());
        assertTrue(tier.remove(entry));
        tier.addHeapBytes(entry, 500);
        assertEquals(0, tier.bytes());
    }

    @Test
    void entriesThatGrowPutOutOthers() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            entries.add(put("k" + i, 1000));
        }
        assertEquals(100, tier.entries());
        entries.forEach(entry -> tier.addHeapBytes(entry, 2000));
        tier.drainHits();
        assertTrue(tier.bytes() <= tier.bytesMax(), () -> "bytes " + tier.bytes());
        assertTrue(tier.entries() > 30, () -> "entries " + tier.entries());
    }

    @Test
    void entryThatGrowsWhileItIsTakenOutCountsNothingInTheEnd() {
        for (int i = 0; i < 300; i++) {
            Entry entry = put("a", 100);
            CompletableFuture<Void> growing = CompletableFuture.runAsync(() -> tier.addHeapBytes(entry, 300));
            tier.remove(entry);
            growing.join();
            assertEquals(0, tier.bytes());
        }
    }

    @Test
    void housekeepingEvictsFromALargeTier_andWritersOnlyWhenItFallsBehind() {
        int bytesMax = 128 << 20;
        int overdraft = 128 << 10;
        List<Runnable> tasks = new ArrayList<>();
        RamTier<Entry> large = new RamTier<>(bytesMax, tasks::add);
        int length = 8 << 20;
        for (int i = 0; i < bytesMax / length - 1; i++) {
            putInto(large, "large" + i, length);
        }
        tasks.forEach(Runnable::run);
        tasks.clear();
        int small = 0;
        while (large.evictions() == 0 && large.bytes() <= bytesMax) {
            putInto(large, "small" + small++, 50_000);
        }
        assertEquals(0, large.evictions());
        assertFalse(tasks.isEmpty());
        while (large.evictions() == 0 && large.bytes() <= bytesMax + overdraft - 60_000) {
            putInto(large, "small" + small++, 50_000);
        }
        assertEquals(0, large.evictions());
        for (int i = 0; i < 5; i++) {
            putInto(large, "small" + small++, 50_000);
        }
        assertTrue(large.evictions() > 0);
        new ArrayList<>(tasks).forEach(Runnable::run);
        assertTrue(large.bytes() <= bytesMax, () -> large.bytes() + " bytes");
        large.clear();
    }

    private Entry putInto(RamTier<Entry> into, String key, int length) {
        Entry entry = new Entry(key, length);
        into.put(entry);
        entry.releaseEntry();
        return entry;
    }

    @Test
    void keepsFrequentlyRequestedObjects() {
        for (int i = 0; i < 20; i++) {
            put("hot" + i, 1000);
        }
        for (int round = 0; round < 200; round++) {
            for (int i = 0; i < 20; i++) {
                Entry hot = get("hot" + i);
                if (hot != null) {
                    hot.releaseEntry();
                } else {
                    put("hot" + i, 1000);
                }
            }
            for (int i = 0; i < 50; i++) {
                put("once" + round + "." + i, 1000);
            }
        }
        int kept = 0;
        for (int i = 0; i < 20; i++) {
            Entry hot = get("hot" + i);
            if (hot != null) {
                kept++;
                hot.releaseEntry();
            }
        }
        assertTrue(kept >= 18, "kept " + kept);
    }

    @Test
    void hitsOfSeveralThreadsTogetherWakeHousekeeping() throws InterruptedException {
        List<Runnable> woken = new ArrayList<>();
        RamTier<Entry> large = new RamTier<>(64 << 20, woken::add);
        AtomicInteger heard = new AtomicInteger();
        large.onHit((entry, hits) -> heard.incrementAndGet());
        putInto(large, "a", 100);
        woken.forEach(Runnable::run);
        woken.clear();
        for (int thread = 0; thread < 32; thread++) {
            // Too few for a batch of one thread.
            Thread asking = new Thread(() -> ask(large, "a", 32));
            assertEquals(0, woken.size(), "before thread " + thread);
            asking.start();
            asking.join();
        }
        assertEquals(1, woken.size(), "for all of them together");
        woken.forEach(Runnable::run);
        assertEquals(32 * 32, heard.get());
        large.clear();
    }

    @Test
    void hitsThatWaitAreHeardWhenTheTierIsLookedAt() {
        RamTier<Entry> large = new RamTier<>(64 << 20, task -> {});
        AtomicInteger heard = new AtomicInteger();
        large.onHit((entry, hits) -> heard.incrementAndGet());
        putInto(large, "a", 100);
        ask(large, "a", 64);
        assertEquals(0, heard.get());
        large.resize();
        assertEquals(64, heard.get());
        large.clear();
    }

    private void ask(RamTier<Entry> of, String key, int times) {
        for (int i = 0; i < times; i++) {
            of.get(hash(key), bytes(key)).releaseEntry();
        }
    }

    @Test
    void anEvictedBodyGoesWithItsLastReader() {
        put("a", 1000);
        Entry reading = get("a");
        tier.remove(hash("a"), bytes("a"));
        assertEquals(1000, allocator.metric().usedDirectMemory());
        assertTrue(reading.tryRetain());
        assertFalse(reading.releaseEntry());
        assertTrue(reading.releaseEntry());
        assertEquals(0, allocator.metric().usedDirectMemory());
        assertFalse(reading.tryRetain());
        assertThrows(IllegalReferenceCountException.class, reading::releaseEntry);
    }

    @Test
    void isNotFooledByALargeEntryOrANewVersion() {
        put("a", 100);
        put("a", 300_000);
        assertNull(get("a"));
        put("a", 50);
        Entry second = put("a", 60);
        assertEquals(1, tier.entries());
        assertEquals(second.weight(), tier.bytes());
    }

    @Test
    void threadsMayPutGetAndRemoveAtOnce() throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            long seed = t;
            Thread thread = new Thread(() -> hammer(new Random(seed)));
            thread.setUncaughtExceptionHandler((who, e) -> failure.set(e));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertNull(failure.get());
        assertNotNull(tier);
    }

    private void hammer(Random random) {
        for (int i = 0; i < 40_000; i++) {
            String key = "k" + random.nextInt(300);
            switch (random.nextInt(8)) {
                case 0, 1 -> put(key, random.nextInt(2000));
                case 2 -> tier.remove(hash(key), bytes(key));
                default -> {
                    Entry entry = get(key);
                    if (entry != null) {
                        assertTrue(entry.body().refCnt() > 0);
                        assertTrue(entry.hasKey(hash(key), bytes(key)));
                        entry.releaseEntry();
                    }
                }
            }
        }
    }
}
