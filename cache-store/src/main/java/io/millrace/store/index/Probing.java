package io.millrace.store.index;

import java.lang.invoke.VarHandle;

/**
 * Linear probing over a {@link SlotTable}.
 *
 * <p>An entry stays in its slot until it goes. One that is removed leaves a mark only where another entry was put beyond it
 * because of it; else its slot and the marks before it become empty again. So probe sequences stay short while a full
 * store trades old entries for new ones.
 *
 * <p>{@link #find}, {@link #slot} and {@link #isDoubtful} from any thread; the rest is confined to the thread that changes the table.
 */
final class Probing {
    /** No place: every slot of the table is in use by others. */
    static final long NO_PLACE = Long.MIN_VALUE;
    /** Slots looked at to see whether a mark is needed. */
    static final int NEED_SLOTS_MAX = 64;

    private Probing() {}

    /** Where the hash's record lies, {@link Location#NONE} when it has none or a tombstone. */
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

    /** The first object's location whose hash has the lower half, {@link Location#NONE} when there is none. */
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

    /** The slot that holds the hash, -1 when none does. */
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
     * Whether it cannot be told that the hash has no entry: a slot on the way to where that would be is damaged, or being
     * changed by another thread.
     */
    static boolean isDoubtful(SlotTable table, long hashHigh, long hashLow) {
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

    /** Notes damage before the slot is written over, which would hide it. */
    private static void inspect(SlotTable table, long slot) {
        if (!table.isSound(slot)) {
            table.damaged();
        }
    }

    /** The slot that holds the hash, or the complement of the one that is to take it, or {@link #NO_PLACE}. */
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

    /** Puts an entry into a slot that {@link #place} named as free. */
    static void fill(SlotTable table, long slot, long hashHigh, long hashLow, long location, long meta) {
        boolean reused = table.location(slot) == Location.DELETED;
        inspect(table, slot);
        table.add(SlotTable.USED_AT, 1);
        countBlocks(table, meta, 1);
        table.fill(slot, hashHigh, hashLow, location, meta);
        if (reused) {
            table.add(SlotTable.DELETED_AT, -1);
        }
    }

    /** Changes the entry that the slot holds. */
    static void move(SlotTable table, long slot, long location, long meta) {
        countBlocks(table, table.meta(slot), -1);
        countBlocks(table, meta, 1);
        table.move(slot, location, meta);
    }

    /** Sets the entry, whether it was there or not; false when the table is full. */
    static boolean set(SlotTable table, long hashHigh, long hashLow, long location, long meta) {
        long place = place(table, hashHigh, hashLow);
        if (place >= 0) {
            move(table, place, location, meta);
        } else if (place != NO_PLACE) {
            fill(table, ~place, hashHigh, hashLow, location, meta);
        }
        return place != NO_PLACE;
    }

    /** Takes out the entry that the slot holds. */
    static void clear(SlotTable table, long slot) {
        long meta = table.meta(slot);
        inspect(table, slot);
        if (isNeeded(table, slot)) {
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
        countBlocks(table, meta, -1);
        table.add(SlotTable.USED_AT, -1);
    }

    /** Whether the probe sequence of an entry behind goes over the slot, for all one can tell. */
    private static boolean isNeeded(SlotTable table, long slot) {
        for (int distance = 1; distance <= NEED_SLOTS_MAX; distance++) {
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

    /** How many slots behind the first of its probe sequence the entry in the slot lies. */
    static long displacement(SlotTable table, long slot) {
        return (slot - table.hashLow(slot)) & table.mask;
    }

    private static void countBlocks(SlotTable table, long meta, int delta) {
        if ((meta & (SlotTable.FLAG_BLOCK | SlotTable.FLAG_TOMBSTONE)) != 0) {
            table.add(SlotTable.BLOCKS_AT, delta);
        }
    }

    static boolean isEntry(long location) {
        return location != Location.NONE && location != Location.DELETED;
    }
}
