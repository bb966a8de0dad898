package io.millrace.store.index;

import java.lang.invoke.VarHandle;

/**
 * Linear probing over a {@link SlotTable}.
 *
 * <p>An entry stays in its slot until it is removed. A removal leaves a deletion mark only if the removed entry
 * displaced a later one, or if a scan of {@link #MARK_SCAN_SLOTS_MAX} slots could not exclude this. Otherwise its slot
 * and the marks before it become empty again. Therefore probe sequences stay short while a full store replaces old
 * entries by new ones.
 *
 * <p>{@link #find}, {@link #slot} and {@link #isMissUnreliable} may be called from any thread. The other methods are
 * confined to the thread that changes the table.
 */
final class Probing {
    /** No place: all slots of the table are in use by other entries. */
    static final long NO_PLACE = Long.MIN_VALUE;
    /** Maximum number of slots scanned to determine whether a deletion mark is needed. */
    static final int MARK_SCAN_SLOTS_MAX = 64;

    private Probing() {}

    /**
     * Returns the location of the record of the hash. {@link Location#NONE} if there is no entry, or only a tombstone
     * (the entry of a removed key).
     */
    static long find(SlotTable table, long hashHigh, long hashLow) {
        long slot = hashLow & table.mask;
        for (long probes = 0; probes <= table.mask; probes++) {
            long location = table.location(slot);
            while (location != Location.NONE
                    && location != Location.DELETED
                    && table.hasHash(slot, hashHigh, hashLow)) {
                boolean tombstone = SlotTable.isTombstone(table.meta(slot));
                VarHandle.loadLoadFence();
                long again = table.location(slot);
                if (again == location) {
                    return tombstone ? Location.NONE : location;
                }
                location = again;
            }
            if (location == Location.NONE) {
                return Location.NONE;
            }
            slot = (slot + 1) & table.mask;
        }
        return Location.NONE;
    }

    /**
     * Returns the location of the first object with this lower half of its hash, {@link Location#NONE} if there is
     * none.
     */
    static long findKey(SlotTable table, long hashLow) {
        long slot = hashLow & table.mask;
        for (long probes = 0; probes <= table.mask; probes++) {
            long location = table.location(slot);
            if (location == Location.NONE) {
                break;
            }
            boolean object = (table.meta(slot) & (SlotTable.FLAG_BLOCK | SlotTable.FLAG_TOMBSTONE)) == 0;
            if (location != Location.DELETED && object && table.hashLow(slot) == hashLow) {
                return location;
            }
            slot = (slot + 1) & table.mask;
        }
        return Location.NONE;
    }

    /** Returns the slot of the hash, -1 if there is none. */
    static long slot(SlotTable table, long hashHigh, long hashLow) {
        long slot = hashLow & table.mask;
        for (long probes = 0; probes <= table.mask; probes++) {
            long location = table.location(slot);
            if (location == Location.NONE) {
                return -1;
            }
            if (location != Location.DELETED && table.hasHash(slot, hashHigh, hashLow)) {
                return slot;
            }
            slot = (slot + 1) & table.mask;
        }
        return -1;
    }

    /**
     * Returns true if the result "not found" for the hash is unreliable. A slot in the probe sequence is damaged, or
     * another thread is changing it.
     */
    static boolean isMissUnreliable(SlotTable table, long hashHigh, long hashLow) {
        long slot = hashLow & table.mask;
        for (long probes = 0; probes <= table.mask; probes++) {
            if (!table.isSound(slot)) {
                return true;
            }
            long location = table.location(slot);
            if (location == Location.NONE || (location != Location.DELETED && table.hasHash(slot, hashHigh, hashLow))) {
                return false;
            }
            slot = (slot + 1) & table.mask;
        }
        return false;
    }

    /**
     * Marks the table as damaged if the slot is damaged. Call before the slot is overwritten, because that hides the
     * damage.
     */
    private static void noteDamage(SlotTable table, long slot) {
        if (!table.isSound(slot)) {
            table.damaged();
        }
    }

    /**
     * Returns the slot of the hash if it has an entry. Otherwise returns the bitwise complement of a free slot, or
     * {@link #NO_PLACE}.
     */
    static long place(SlotTable table, long hashHigh, long hashLow) {
        long reusable = NO_PLACE;
        long slot = hashLow & table.mask;
        for (long probes = 0; probes <= table.mask; probes++) {
            long location = table.location(slot);
            if (location == Location.NONE) {
                return reusable == NO_PLACE ? ~slot : reusable;
            }
            if (location == Location.DELETED) {
                reusable = reusable == NO_PLACE ? ~slot : reusable;
            } else if (table.hasHash(slot, hashHigh, hashLow)) {
                return slot;
            }
            slot = (slot + 1) & table.mask;
        }
        return reusable;
    }

    /** Writes an entry into a slot that {@link #place} returned as free. */
    static void fill(SlotTable table, long slot, long hashHigh, long hashLow, long location, long meta) {
        boolean reused = table.location(slot) == Location.DELETED;
        noteDamage(table, slot);
        table.add(SlotTable.USED_AT, 1);
        countNonObjects(table, meta, 1);
        table.fill(slot, hashHigh, hashLow, location, meta);
        if (reused) {
            table.add(SlotTable.DELETED_AT, -1);
        }
    }

    /** Changes the entry in the slot. */
    static void updateEntry(SlotTable table, long slot, long location, long meta) {
        countNonObjects(table, table.meta(slot), -1);
        countNonObjects(table, meta, 1);
        table.updateEntry(slot, location, meta);
    }

    /** Adds or replaces the entry of the hash. Returns false if the table is full. */
    static boolean set(SlotTable table, long hashHigh, long hashLow, long location, long meta) {
        long place = place(table, hashHigh, hashLow);
        if (place >= 0) {
            updateEntry(table, place, location, meta);
        } else if (place != NO_PLACE) {
            fill(table, ~place, hashHigh, hashLow, location, meta);
        }
        return place != NO_PLACE;
    }

    /** Removes the entry in the slot. */
    static void clear(SlotTable table, long slot) {
        long meta = table.meta(slot);
        noteDamage(table, slot);
        if (needsDeletionMark(table, slot)) {
            table.add(SlotTable.DELETED_AT, 1);
            table.clear(slot, Location.DELETED);
        } else {
            table.clear(slot, Location.NONE);
            long before = (slot - 1) & table.mask;
            while (table.location(before) == Location.DELETED) {
                table.clear(before, Location.NONE);
                table.add(SlotTable.DELETED_AT, -1);
                before = (before - 1) & table.mask;
            }
        }
        countNonObjects(table, meta, -1);
        table.add(SlotTable.USED_AT, -1);
    }

    /**
     * Returns true if the slot must keep a deletion mark: the probe sequence of a later entry passes over it, or the
     * scan limit is reached.
     */
    private static boolean needsDeletionMark(SlotTable table, long slot) {
        for (int distance = 1; distance <= MARK_SCAN_SLOTS_MAX; distance++) {
            long behind = (slot + distance) & table.mask;
            long location = table.location(behind);
            if (location == Location.NONE) {
                return false;
            }
            if (location != Location.DELETED && displacement(table, behind) >= distance) {
                return true;
            }
        }
        return true;
    }

    /** Returns the distance of the entry in the slot from the first slot of its probe sequence. */
    static long displacement(SlotTable table, long slot) {
        return (slot - table.hashLow(slot)) & table.mask;
    }

    private static void countNonObjects(SlotTable table, long meta, int delta) {
        if ((meta & (SlotTable.FLAG_BLOCK | SlotTable.FLAG_TOMBSTONE)) != 0) {
            table.add(SlotTable.NON_OBJECTS_AT, delta);
        }
    }

    static boolean isEntry(long location) {
        return location != Location.NONE && location != Location.DELETED;
    }
}
