package io.millrace.store.tool;

/**
 * Records that the index does not name, by hash, the newest of each: open addressing in plain arrays, 32 bytes a slot,
 * and no more than a million of them.
 *
 * <p>Confined to one thread.
 */
final class OrphanTable {
    private static final int SLOTS = 1 << 21;
    private static final int ENTRIES_MAX = 1 << 20;

    private final long[] high = new long[SLOTS];
    private final long[] low = new long[SLOTS];
    private final long[] sequences = new long[SLOTS];
    /** Where the record lies, 0 when it is one that need not be in the index. */
    private final long[] locations = new long[SLOTS];

    private int entries;
    private boolean full;

    /** Sees each of them. */
    @FunctionalInterface
    interface Visitor {
        void orphan(long location);
    }

    /** Notes a record; {@code location} is 0 when it is a tombstone, a block or damaged. */
    void note(long hashHigh, long hashLow, long sequence, long location) {
        int slot = (int) hashLow & (SLOTS - 1);
        while (sequences[slot] != 0 && (high[slot] != hashHigh || low[slot] != hashLow)) {
            slot = (slot + 1) & (SLOTS - 1);
        }
        if (sequences[slot] == 0) {
            if (entries == ENTRIES_MAX) {
                full = true;
                return;
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

    /** Whether there were more than it holds. */
    boolean isFull() {
        return full;
    }

    /** Shows the objects whose newest record is not in the index. */
    void forEach(Visitor visitor) {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (locations[slot] != 0) {
                visitor.orphan(locations[slot]);
            }
        }
    }
}
