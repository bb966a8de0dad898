package io.millrace.store.tool;

/**
 * Records that the index does not name, by hash, the newest of each: open addressing in plain arrays, 32 bytes a slot, which
 * grow with what they hold, and no more than a million of them.
 *
 * <p>Confined to one thread.
 */
final class OrphanTable {
    /** Of a sound volume next to none is needed. */
    private static final int SLOTS_AT_FIRST = 1 << 10;

    static final int ENTRIES_MAX = 1 << 20;

    private long[] high = new long[SLOTS_AT_FIRST];
    private long[] low = new long[SLOTS_AT_FIRST];
    private long[] sequences = new long[SLOTS_AT_FIRST];
    /** Where the record lies, 0 when it is one that need not be in the index. */
    private long[] locations = new long[SLOTS_AT_FIRST];

    private int entries;
    private boolean full;

    /** Sees each of them. */
    @FunctionalInterface
    interface Visitor {
        void orphan(long location);
    }

    /** Notes a record; {@code location} is 0 when it is a tombstone, a block or damaged. */
    void note(long hashHigh, long hashLow, long sequence, long location) {
        int slot = slotOf(hashHigh, hashLow);
        if (sequences[slot] == 0) {
            if (entries == ENTRIES_MAX) {
                full = true;
                return;
            }
            if (entries == sequences.length / 2) {
                grow();
                slot = slotOf(hashHigh, hashLow);
            }
            entries++;
            high[slot] = hashHigh;
            low[slot] = hashLow;
        }
        if (sequence >= sequences[slot]) {
            sequences[slot] = sequence;
            locations[slot] = location;
        }
    }

    /** Where the hash is, or is to be. */
    private int slotOf(long hashHigh, long hashLow) {
        int mask = sequences.length - 1;
        int slot = (int) hashLow & mask;
        while (sequences[slot] != 0 && (high[slot] != hashHigh || low[slot] != hashLow)) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private void grow() {
        long[] oldHigh = high;
        long[] oldLow = low;
        long[] oldSequences = sequences;
        long[] oldLocations = locations;
        int slots = 2 * oldSequences.length;
        high = new long[slots];
        low = new long[slots];
        sequences = new long[slots];
        locations = new long[slots];
        for (int old = 0; old < oldSequences.length; old++) {
            if (oldSequences[old] != 0) {
                int slot = slotOf(oldHigh[old], oldLow[old]);
                high[slot] = oldHigh[old];
                low[slot] = oldLow[old];
                sequences[slot] = oldSequences[old];
                locations[slot] = oldLocations[old];
            }
        }
    }

    /** Whether there were more than it holds. */
    boolean isFull() {
        return full;
    }

    /** Shows the objects whose newest record is not in the index. */
    void forEach(Visitor visitor) {
        for (int slot = 0; slot < locations.length; slot++) {
            if (locations[slot] != 0) {
                visitor.orphan(locations[slot]);
            }
        }
    }
}
