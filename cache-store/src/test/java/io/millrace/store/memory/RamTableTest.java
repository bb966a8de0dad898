package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests a chain of the table while its slots are replaced and removed. */
final class RamTableTest {
    private final EntrySlots slots = new EntrySlots();
    private final RamTable table = new RamTable(slots, null, 0, RamTable.BYTES_PER_CHAIN);

    private static byte[] bytes(int key) {
        return new byte[] {(byte) key};
    }

    /** Puts an entry in chain 0. Returns its slot. */
    private int put(int key) {
        RamEntry entry = new RamEntry(bytes(key), key, Unpooled.EMPTY_BUFFER, 0) {};
        int slot = slots.allocate();
        slots.set(slot, entry, CompactEntries.NONE, key, EvictionPolicy.ADDING);
        table.put(slot, bytes(key));
        return slot;
    }

    @Test
    void aVisitMissesNoKeyWhoseEntryIsReplacedBetweenChains() {
        for (int key = 1; key <= 3; key++) {
            put(key);
        }
        List<Integer> visited = new ArrayList<>();
        table.forEach(slot -> visited.add((int) slots.hash(slot)), () -> {
            for (int key = 1; key <= 3; key++) {
                put(key);
            }
        });
        assertEquals(List.of(1, 2, 3), visited.stream().sorted().toList());
    }

    @Test
    void aReplacedSlotLeavesTheChain() {
        int first = put(1);
        put(2);
        int second = put(1);
        assertEquals(second, table.find(1, bytes(1)));
        assertFalse(table.remove(first, 1));
        assertTrue(table.remove(second, 1));
        assertEquals(EntrySlots.NONE, table.find(1, bytes(1)));
        assertTrue(table.find(2, bytes(2)) != EntrySlots.NONE);
    }

    /** A reader that stands at a removed slot finds the rest of its chain. */
    @Test
    void aRemovedSlotStillLeadsToTheRestOfItsChain() {
        int last = put(1);
        int middle = put(2);
        put(3);
        assertTrue(table.remove(middle, 2));
        assertEquals(last, slots.next(middle));
        assertEquals(last, table.find(1, bytes(1)));
    }

    @Test
    void slotsAreUsedAgainAfterTheyWereFreed() {
        List<Integer> taken = new ArrayList<>();
        for (int key = 0; key < 10_000; key++) {
            int slot = slots.allocate();
            slots.set(slot, null, key, key, EvictionPolicy.ADDING);
            taken.add(slot);
        }
        for (int key = 0; key < 10_000; key++) {
            assertEquals(key, slots.place(taken.get(key)));
            assertEquals(key, slots.hash(taken.get(key)));
        }
        taken.forEach(slots::free);
        for (int key = 0; key < 10_000; key++) {
            assertTrue(slots.allocate() <= 10_000);
        }
    }
}
