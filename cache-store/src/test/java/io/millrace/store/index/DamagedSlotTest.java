package io.millrace.store.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class DamagedSlotTest {
    private static final int SHIFT = 4;
    private static final int SLOT_WORDS = 4;
    private static final long HIT_BITS = 0xFFL << 40;
    private static final long HIGH = 0x1234_5678_9ABC_DEF0L;

    private final HeapMemory words = new HeapMemory(SLOT_WORDS << SHIFT);
    private final SlotTable table = new SlotTable(new HeapMemory(SlotTable.headBytes(0) / Long.BYTES), words, 0, SHIFT);

    private static long location(int segment) {
        return Location.pack(segment, 640, 1280, 7);
    }

    private void put(long low) {
        assertTrue(Probing.set(table, HIGH, low, location((int) low), 4711 | SlotTable.hitBits(2)));
    }

    private void flip(long word, int bit) {
        words.set(word, words.get(word) ^ 1L << bit);
    }

    /** Flips each bit of a slot in turn, except for the bits of the hit counter. */
    private void assertEachFlipIsSeen(int slot, long low) {
        for (int word = 0; word < SLOT_WORDS; word++) {
            for (int bit = 0; bit < Long.SIZE; bit++) {
                if (word < 3 || (HIT_BITS >>> bit & 1) == 0) {
                    flip(slot * SLOT_WORDS + word, bit);
                    assertTrue(Probing.isMissUnreliable(table, HIGH, low), "word " + word + " bit " + bit);
                    flip(slot * SLOT_WORDS + word, bit);
                }
            }
        }
        assertFalse(Probing.isMissUnreliable(table, HIGH, low));
    }

    @Test
    void eachBitOfAnEntryThatFlipsIsSeenByThoseOnTheirWayThroughIt() {
        put(3);
        put(3 + 16);
        assertEachFlipIsSeen(3, 3);
        assertEachFlipIsSeen(3, 3 + 16);
        assertEachFlipIsSeen(4, 3 + 16);
        assertEachFlipIsSeen(4, 3 + 32);
    }

    @Test
    void aMarkThatBecomesAnEmptySlotIsSeen() {
        put(3);
        put(3 + 16);
        Probing.clear(table, 3);
        assertEquals(Location.DELETED, table.location(3));
        assertFalse(Probing.isMissUnreliable(table, HIGH, 3 + 16));
        flip(3 * SLOT_WORDS + 2, 0);
        assertEquals(Location.NONE, Probing.find(table, HIGH, 3 + 16));
        assertTrue(Probing.isMissUnreliable(table, HIGH, 3 + 16));
    }

    @Test
    void hitsAndMovesAndRemovalsAreNoDamage() {
        put(3);
        put(3 + 16);
        table.hit(3);
        assertFalse(Probing.isMissUnreliable(table, HIGH, 3 + 32));
        Probing.updateEntry(table, 3, location(9), SlotTable.FLAG_BLOCK);
        assertFalse(Probing.isMissUnreliable(table, HIGH, 3 + 32));
        Probing.clear(table, 3);
        Probing.clear(table, 4);
        for (int slot = 0; slot < table.slotCount(); slot++) {
            assertTrue(table.isSound(slot), "slot " + slot);
        }
        put(3 + 32);
        assertFalse(Probing.isMissUnreliable(table, HIGH, 3 + 48));
        assertFalse(table.isDamaged());
    }

    @Test
    void overwrittenDamageMarksTheTable() {
        put(3);
        flip(3 * SLOT_WORDS, 5);
        Probing.clear(table, 3);
        assertTrue(table.isDamaged());
    }

    @Test
    void aGrownIndexKeepsTheDamageOfTheOldTable() throws Exception {
        MappedIndex index = new MappedIndex(new HeapTables(0, false), "heap", table, false);
        put(3);
        flip(3 * SLOT_WORDS, 5);
        assertTrue(index.isMissUnreliable(HIGH, 3));
        index.beginGrowth(SHIFT + 1);
        while (index.step()) {
            // Waits until the new table is in use.
        }
        assertEquals(2 << SHIFT, index.capacity());
        assertTrue(index.isMissUnreliable(HIGH, 3));
    }

    @Test
    void aRemovalThatFindsDamageMarksTheTable() {
        MappedIndex index = new MappedIndex(new HeapTables(0, false), "heap", table, false);
        put(3);
        flip(3 * SLOT_WORDS + 1, 1);
        assertFalse(index.remove(HIGH, 3));
        assertTrue(table.isDamaged());
    }
}
