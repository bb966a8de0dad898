package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a slow reader, such as one whose thread has no processor, and the budget of 64 MiB. */
class RamReaderBudgetTest {
    private static final int MIB = 1 << 20;
    private static final int LENGTH = MIB / 4;

    private final UnpooledByteBufAllocator source = new UnpooledByteBufAllocator(true);
    private final MemoryBudget budget = new MemoryBudget(64 * MIB);
    private final CountingAllocator filling = new CountingAllocator(new BodyPool(source, 0), budget, Part.FILLING);
    private final CountingAllocator reading = new CountingAllocator(new BodyPool(source, 0), budget, Part.READING);
    private final RamTier<RamEntry> tier = new RamTier<>(64 * MIB, budget, Runnable::run);
    private final RamTier<RamEntry>.Reader reader = tier.reader();

    private static long hash(int number) {
        return number * 0x9E37_79B9_7F4A_7C15L;
    }

    private static byte[] key(int number) {
        return ("key" + number).getBytes(StandardCharsets.US_ASCII);
    }

    private void put(int number, int length) {
        put(number, filling, length);
    }

    private void put(int number, CountingAllocator from, int length) {
        RamEntry entry = new RamEntry(
                key(number), hash(number), from.directBuffer(length).writerIndex(length), 0) {};
        tier.put(entry);
        entry.releaseEntry();
    }

    private void remove(int number) {
        assertTrue(tier.remove(hash(number), key(number)));
    }

    /** Fills RAM with objects from the disk. */
    private void fillRam() {
        for (int number = 0; number < 64 * MIB / LENGTH; number++) {
            put(number, reading, LENGTH);
        }
        tier.resize();
    }

    private boolean hasRoomFor(int length) {
        ByteBuf buffer = filling.tryDirectBuffer(length);
        return buffer != null && buffer.release();
    }

    @AfterEach
    void countsToZeroInTheEnd() {
        tier.clear();
        reader.close();
        assertEquals(0, budget.totalBytes());
        assertEquals(0, source.metric().usedDirectMemory());
    }

    /** Memory that was evicted for one reservation and cannot be released yet is not evicted again for later ones. */
    @Test
    void concurrentReservationsDuringAReadEvictOnce() {
        fillRam();
        long before = tier.bytes();
        reader.begin();
        for (int i = 0; i < 100; i++) {
            hasRoomFor(2 * MIB);
        }
        long evicted = before - tier.bytes();
        assertTrue(evicted > 0 && evicted <= 4 * MIB, () -> "evicted=" + evicted + " of " + before);
        assertTrue(budget.totalBytes() <= budget.bytesMax(), () -> "total=" + budget.totalBytes());
        reader.end();
        assertTrue(hasRoomFor(2 * MIB));
        assertEquals(0, tier.unlinkedEntries());
    }

    @Test
    void theTierDoesNotShrinkFurtherAndFurtherWhileSomebodyReads() {
        fillRam();
        reader.begin();
        for (int number = 1000; number < 1020; number++) {
            put(number, LENGTH);
        }
        long before = tier.bytes();
        for (int i = 0; i < 10; i++) {
            tier.resize();
        }
        assertEquals(before, tier.bytes());
        reader.end();
    }

    /** The release waits for the next check, for at most half a second. */
    @Test
    void memoryIsAvailableAfterTheLastReaderEnds() {
        int most = (int) budget.partBytesMax();
        put(1, most);
        reader.begin();
        remove(1);
        reader.end();
        assertEquals(most, budget.bytes(Part.FILLING));
        assertTrue(hasRoomFor(MIB));
        assertEquals(0, budget.bytes(Part.FILLING));
    }

    /** The memory counts for a part with a limit, so an insertion is refused. */
    @Test
    void entriesReplacedDuringAReadStayWithinTheirPartOfTheLimit() {
        put(1, LENGTH);
        reader.begin();
        int stored = 0;
        for (ByteBuf body = filling.tryDirectBuffer(LENGTH); body != null; body = filling.tryDirectBuffer(LENGTH)) {
            RamEntry entry = new RamEntry(key(1), hash(1), body.writerIndex(LENGTH), 0) {};
            tier.put(entry);
            entry.releaseEntry();
            stored++;
        }
        assertEquals(budget.partBytesMax() / LENGTH, stored);
        assertEquals(stored, tier.unlinkedEntries());
        assertTrue(budget.totalBytes() <= budget.bytesMax(), () -> "total=" + budget.totalBytes());
        reader.end();
        assertTrue(hasRoomFor(MIB));
    }
}
