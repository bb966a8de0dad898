package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the heap for entries of the RAM tier, with a budget of 64 MiB of which entries may use 2 MiB. */
class RamHeapTest {
    private static final int MIB = 1 << 20;
    private static final int HEAD_BYTES = 600;

    private final UnpooledByteBufAllocator source = new UnpooledByteBufAllocator(true);
    private final MemoryBudget budget = new MemoryBudget(64 * MIB, 2 * MIB);
    private final CountingAllocator filling = new CountingAllocator(new BodyPool(source, 0), budget, Part.FILLING);
    private final RamTier<RamEntry> tier = new RamTier<>(64 * MIB, budget, Runnable::run);

    private void put(int number, int length) {
        put(tier, filling, number, length);
    }

    private static void put(RamTier<RamEntry> into, CountingAllocator bodies, int number, int length) {
        byte[] key = ("key" + number).getBytes(StandardCharsets.US_ASCII);
        ByteBuf body = bodies.directBuffer(length).writerIndex(length);
        RamEntry entry = new RamEntry(key, number * 0x9E37_79B9_7F4A_7C15L, body, HEAD_BYTES) {};
        into.put(entry);
        entry.releaseEntry();
    }

    @AfterEach
    void countsToZeroInTheEnd() {
        tier.clear();
        assertEquals(0, budget.bytes(Part.ENTRIES));
        assertEquals(0, source.metric().usedDirectMemory());
    }

    @Test
    void manySmallObjectsNeverTakeMoreHeapThanEntriesMayHave() {
        long least = Long.MAX_VALUE;
        for (int number = 0; number < 50_000; number++) {
            put(number, 100);
            long heap = budget.bytes(Part.ENTRIES);
            assertTrue(heap <= 2 * MIB, () -> "heap=" + heap);
            if (number > 10_000) {
                least = Math.min(least, heap);
            }
            if (number % 1000 == 0) {
                tier.resize();
            }
        }
        long kept = least;
        assertTrue(kept > 2 * MIB / 16 * 15, () -> "most of it is used, at least " + kept);
        assertTrue(tier.evictions() > 40_000, () -> "evictions=" + tier.evictions());
    }

    /**
     * The overshoot that a tier may have until housekeeping runs is part of its current content, not of its capacity.
     */
    @Test
    void entriesKeepWithinTheirHeapThoughTheTierCouldBeMuchLarger_andHousekeepingIsLate() {
        long ramBytes = 4096L * MIB;
        MemoryBudget large = new MemoryBudget(ramBytes, 2 * MIB);
        CountingAllocator bodies = new CountingAllocator(new BodyPool(source, 0), large, Part.FILLING);
        Queue<Runnable> late = new ArrayDeque<>();
        RamTier<RamEntry> roomy = new RamTier<>(ramBytes, large, late::add);
        for (int number = 0; number < 10_000; number++) {
            put(roomy, bodies, number, 100);
            long heap = large.bytes(Part.ENTRIES);
            assertTrue(heap <= 2 * MIB, () -> "heap=" + heap);
        }
        roomy.clear();
    }

    @Test
    void theTierIsLargeAgainWhenLargerObjectsComeInTheirPlace() {
        for (int number = 0; number < 10_000; number++) {
            put(number, 100);
        }
        assertTrue(tier.bytesLimit() < 4 * MIB, () -> "limit=" + tier.bytesLimit());

        for (int round = 0; round < 300; round++) {
            for (int number = 0; number < 100; number++) {
                put(1_000_000 + round * 100 + number, MIB / 4);
            }
            tier.resize();
        }

        assertTrue(tier.bytes() > 56L * MIB, () -> "bytes=" + tier.bytes() + ", limit=" + tier.bytesLimit());
        assertTrue(budget.totalBytes() <= budget.bytesMax());
    }

    /** Hits do not evict. Housekeeping evicts after it has received the hits. */
    @Test
    void headsThatComeLaterKeepWithinTheHeapToo() {
        for (int number = 0; number < 4000; number++) {
            put(number, 100);
        }
        long before = budget.bytes(Part.ENTRIES);
        for (int number = 0; number < 4000; number++) {
            byte[] key = ("key" + number).getBytes(StandardCharsets.US_ASCII);
            RamEntry entry = tier.peek(number * 0x9E37_79B9_7F4A_7C15L, key);
            if (entry != null) {
                tier.addHeapBytes(entry, 2000);
            }
        }
        assertTrue(budget.bytes(Part.ENTRIES) > before + 2 * MIB, "counted at once");
        tier.drainHits();
        for (int rounds = 0; rounds < 100 && budget.bytes(Part.ENTRIES) > 2 * MIB; rounds++) {
            tier.resize();
        }
        assertTrue(budget.bytes(Part.ENTRIES) <= 2 * MIB, () -> "heap=" + budget.bytes(Part.ENTRIES));
        assertTrue(tier.entries() > 100, () -> "entries=" + tier.entries());
    }

    @Test
    void threadsThatPutAtOnceEvictNoMoreThanOneWould() {
        int threads = 4;
        AtomicLong least = new AtomicLong(Long.MAX_VALUE);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int first = thread * 20_000;
            all.add(CompletableFuture.runAsync(() -> {
                for (int number = first; number < first + 20_000; number++) {
                    put(number, 100);
                    if (number > first + 10_000) {
                        least.accumulateAndGet(budget.bytes(Part.ENTRIES), Math::min);
                    }
                }
            }));
        }
        all.forEach(CompletableFuture::join);
        assertTrue(budget.bytes(Part.ENTRIES) <= 2 * MIB, () -> "heap=" + budget.bytes(Part.ENTRIES));
        assertTrue(least.get() > 2 * MIB / 8 * 7, () -> "least=" + least);
    }
}
