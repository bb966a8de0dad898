package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
    private static final int MIB = 1 << 20;

    private final UnpooledByteBufAllocator source = new UnpooledByteBufAllocator(true);
    private final MemoryBudget budget = new MemoryBudget(64 * MIB);
    private final CountingAllocator filling = new CountingAllocator(new BodyPool(source, 0), budget, Part.FILLING);
    private final CountingAllocator reading = new CountingAllocator(new BodyPool(source, 0), budget, Part.READING);
    private final RamTier<RamEntry> tier = new RamTier<>(64 * MIB, budget, Runnable::run);

    private RamEntry put(int number, CountingAllocator allocator, int length) {
        byte[] key = ("key" + number).getBytes(StandardCharsets.US_ASCII);
        ByteBuf body = allocator.directBuffer(length).setZero(0, length).writerIndex(length);
        RamEntry entry = new RamEntry(key, number * 0x9E37_79B9_7F4A_7C15L, body, 0) {};
        tier.put(entry);
        return entry;
    }

    private @org.jspecify.annotations.Nullable RamEntry get(int number) {
        return tier.get(number * 0x9E37_79B9_7F4A_7C15L, ("key" + number).getBytes(StandardCharsets.US_ASCII));
    }

    @AfterEach
    void countsToZeroInTheEnd() {
        tier.clear();
        for (Part part : Part.values()) {
            assertEquals(0, budget.bytes(part), part.name());
        }
        assertEquals(0, budget.totalBytes());
        assertEquals(0, source.metric().usedDirectMemory());
    }

    @Test
    void countsFromAllocationToTheReleaseOfTheLastSlice() {
        ByteBuf buffer = filling.directBuffer(1000);
        assertEquals(1000, budget.bytes(Part.FILLING));
        buffer.writeZero(900);
        buffer.ensureWritable(4000);
        assertEquals(buffer.capacity(), budget.bytes(Part.FILLING));
        ByteBuf slice = buffer.retainedSlice(0, 10);
        buffer.release();
        assertTrue(budget.bytes(Part.FILLING) >= 4000);
        slice.release();
        assertEquals(0, budget.bytes(Part.FILLING));
    }

    @Test
    void anEvictedEntryCountsUntilItsReaderReleasesIt() {
        RamEntry entry = put(1, filling, 5000);
        assertEquals(5000, budget.bytes(Part.RESIDENT));
        assertEquals(0, budget.bytes(Part.FILLING));
        assertTrue(budget.bytes(Part.ENTRIES) > 0);
        ByteBuf beingSent = entry.body().retainedSlice(0, 100);
        assertTrue(entry.tryRetain());
        tier.clear();
        assertEquals(0, budget.bytes(Part.RESIDENT));
        assertEquals(0, budget.bytes(Part.ENTRIES));
        assertEquals(5000, budget.bytes(Part.FILLING));
        entry.releaseEntry();
        entry.releaseEntry();
        assertEquals(5000, budget.bytes(Part.FILLING), "its bytes are still being sent");
        beingSent.release();
    }

    @Test
    void twoEntriesWithOneBodyCountItOnce() {
        RamEntry entry = put(1, reading, 5000);
        byte[] key = "key1".getBytes(StandardCharsets.US_ASCII);
        RamEntry updated =
                new RamEntry(key, 0x9E37_79B9_7F4A_7C15L, entry.body().retain(), 100) {};
        tier.put(updated);
        assertFalse(entry.isLinked());
        assertEquals(5000, budget.bytes(Part.RESIDENT));
        entry.releaseEntry();
        updated.releaseEntry();
        assertEquals(5000, budget.bytes(Part.RESIDENT));
    }

    @Test
    void theRamTierShrinksForMemoryInFlight() {
        for (int i = 0; i < 64; i++) {
            put(i, filling, MIB).releaseEntry();
        }
        tier.resize();
        assertTrue(budget.totalBytes() <= budget.bytesMax(), () -> "total=" + budget.totalBytes());
        long entriesBefore = tier.entries();
        List<ByteBuf> inFlight = new ArrayList<>();
        for (ByteBuf b = filling.tryDirectBuffer(MIB); b != null; b = filling.tryDirectBuffer(MIB)) {
            inFlight.add(b);
            assertTrue(budget.totalBytes() <= budget.bytesMax(), () -> "total=" + budget.totalBytes());
        }
        for (ByteBuf b = reading.tryDirectBuffer(MIB); b != null; b = reading.tryDirectBuffer(MIB)) {
            inFlight.add(b);
            assertTrue(budget.totalBytes() <= budget.bytesMax(), () -> "total=" + budget.totalBytes());
        }
        assertEquals(2 * budget.partBytesMax(), (long) MIB * inFlight.size());
        assertTrue(tier.entries() < entriesBefore);
        assertTrue(tier.entries() > 0, "the RAM tier is not starved");
        assertEquals(1, budget.refusedFills());
        assertEquals(1, budget.refusedReads());
        long small = tier.entries();
        inFlight.forEach(ByteBuf::release);
        tier.resize();
        for (int i = 100; i < 164; i++) {
            put(i, filling, MIB).releaseEntry();
        }
        assertTrue(tier.entries() > small, "it takes back what others no longer need");
        assertTrue(budget.totalBytes() <= budget.bytesMax(), () -> "total=" + budget.totalBytes());
    }

    @Test
    void bodiesThatReadersHoldCannotGiveWayAndAreNotExceeded() {
        List<RamEntry> held = new ArrayList<>();
        for (int i = 0; hasRoom(); i++) {
            RamEntry entry = put(i, filling, MIB);
            held.add(entry);
        }
        assertTrue(budget.totalBytes() <= budget.bytesMax(), () -> "total=" + budget.totalBytes());
        assertFalse(hasRoom());
        held.forEach(RamEntry::releaseEntry);
        assertTrue(hasRoom());
    }

    private boolean hasRoom() {
        ByteBuf buffer = filling.tryDirectBuffer(MIB);
        return buffer != null && buffer.release();
    }

    @Test
    void concurrentReservationsStayWithinTheLimit() throws InterruptedException {
        int threads = 8;
        long limit = budget.partBytesMax();
        AtomicLong most = new AtomicLong();
        AtomicInteger given = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        CyclicBarrier together = new CyclicBarrier(threads);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread[] fills = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            long seed = i;
            fills[i] = new Thread(() -> {
                try {
                    fill(together, new Random(seed), most, given, refused);
                } catch (Throwable e) {
                    failure.set(e);
                }
            });
            fills[i].start();
        }
        for (Thread fill : fills) {
            fill.join();
        }
        assertNull(failure.get());
        assertTrue(most.get() <= limit, () -> "most=" + most + " limit=" + limit);
        assertTrue(given.get() > 0 && refused.get() > 0, () -> "given=" + given + " refused=" + refused);
        assertEquals(refused.get(), budget.refusedFills());
    }

    /**
     * Repeatedly reserves more than its part of the limit, checks it, and releases it, concurrently with the others.
     */
    private void fill(
            CyclicBarrier together, Random random, AtomicLong most, AtomicInteger given, AtomicInteger refused)
            throws Exception {
        for (int round = 0; round < 50; round++) {
            List<ByteBuf> held = new ArrayList<>();
            together.await(30, TimeUnit.SECONDS);
            for (int i = 0; i < 40; i++) {
                ByteBuf buffer = filling.tryDirectBuffer(64 * 1024 + random.nextInt(256 * 1024));
                (buffer == null ? refused : given).incrementAndGet();
                if (buffer != null) {
                    held.add(buffer);
                }
                most.accumulateAndGet(budget.bytes(Part.FILLING), Math::max);
            }
            // All hold their reservations. Together they requested more than the limit.
            together.await(30, TimeUnit.SECONDS);
            held.forEach(ByteBuf::release);
        }
    }

    @Test
    void waitersAreCalledByTheNextRelease() {
        int[] calls = {0};
        budget.onRoom(() -> calls[0]++);
        ByteBuf first = reading.directBuffer(10);
        ByteBuf second = reading.directBuffer(10);
        first.release();
        assertEquals(0, calls[0]);
        budget.awaitRoom();
        second.release();
        assertEquals(1, calls[0]);
        reading.directBuffer(10).release();
        assertEquals(1, calls[0]);
    }

    @Test
    void aCountedBufferReadsAndWritesAsAnyOther() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        ByteBuf plain = source.buffer(64, 4096);
        ByteBuf counted = filling.directBuffer(64, 4096);
        for (int i = 0; i < 200; i++) {
            byte[] bytes = new byte[random.nextInt(20)];
            random.nextBytes(bytes);
            long value = random.nextLong();
            for (ByteBuf buffer : List.of(plain, counted)) {
                switch (i % 8) {
                    case 0 -> buffer.writeBytes(bytes);
                    case 1 -> buffer.writeLong(value).writeLongLE(value);
                    case 2 -> buffer.writeInt((int) value).writeIntLE((int) value);
                    case 3 -> buffer.writeShort((int) value).writeShortLE((int) value);
                    case 4 -> buffer.writeMedium((int) value).writeMediumLE((int) value);
                    case 5 -> buffer.writeByte((int) value);
                    case 6 -> buffer.writeBytes(java.nio.ByteBuffer.wrap(bytes));
                    default -> buffer.setBytes(0, bytes, 0, Math.min(bytes.length, buffer.writerIndex()));
                }
            }
        }
        assertEquals(plain, counted, () -> "seed=" + seed);
        assertEquals(plain.slice(3, 50), counted.slice(3, 50));
        assertEquals(plain.getLong(5), counted.getLong(5));
        assertEquals(plain.getLongLE(5), counted.getLongLE(5));
        assertEquals(plain.getUnsignedMediumLE(7), counted.getUnsignedMediumLE(7));
        assertEquals(plain.nioBuffer(2, 40), counted.nioBuffer(2, 40));
        ByteBuf copy = counted.copy(4, 30);
        assertEquals(plain.slice(4, 30), copy);
        assertEquals(filling, copy.alloc());
        copy.release();
        assertTrue(counted.isDirect());
        plain.release();
        counted.release();
    }

    @Test
    void hitsAfterShrinkingFindTheRemainingObjects() {
        for (int i = 0; i < 60; i++) {
            put(i, filling, MIB).releaseEntry();
        }
        assertTrue(budget.reserve(Part.READING, budget.partBytesMax()));
        int found = 0;
        for (int i = 0; i < 60; i++) {
            RamEntry entry = get(i);
            if (entry != null) {
                assertNotNull(entry.body());
                entry.releaseEntry();
                found++;
            }
        }
        assertEquals(tier.entries(), found);
        budget.release(Part.READING, budget.partBytesMax());
    }
}
