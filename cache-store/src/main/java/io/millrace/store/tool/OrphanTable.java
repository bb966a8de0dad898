package io.millrace.store.tool;

/**
 * The records that {@link StoreCheck} found on disk without an entry in the index: the newest record of each hash. An
 * open-addressing table in plain arrays with 32 bytes per slot. It grows on demand, up to {@value #ENTRIES_MAX}
 * records.
 *
 * <p>Confined to one thread.
 */
final class OrphanTable {
    /** Initial number of slots; an intact volume has almost no records without an index entry. */
    private static final int SLOTS_AT_FIRST = 1 << 10;

    static final int ENTRIES_MAX = 1 << 20;

    private long[] high = new long[SLOTS_AT_FIRST];
    private long[] low = new long[SLOTS_AT_FIRST];
    private long[] sequences = new long[SLOTS_AT_FIRST];
    /** Location of the record; 0 for a record that need not be in the index. */
    private long[] locations = new long[SLOTS_AT_FIRST];

    private int entries;
    private boolean full;

    /** A visitor of the records that should be in the index. */
    @FunctionalInterface
    interface Visitor {
        void orphan(long location);
    }

    /**
     * Adds a record, and keeps it if it is the newest of its hash. {@code location} is 0 for a record that need not be
     * in the index: a tombstone (the record of a removal), a block or a damaged record.
     */
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

    /** Returns the slot of the hash, or the free slot for it. */
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

    /** Returns true if a record was not added because the table was full. */
    boolean isFull() {
        return full;
    }

    /** Passes to the visitor each object whose newest record is not in the index. */
    void forEach(Visitor visitor) {
        for (int slot = 0; slot < locations.length; slot++) {
            if (locations[slot] != 0) {
                visitor.orphan(locations[slot]);
            }
        }
    }
}
