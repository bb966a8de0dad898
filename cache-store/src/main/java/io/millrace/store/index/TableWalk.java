package io.millrace.store.index;

import java.util.HashMap;
import java.util.Map;

/**
 * A walk over all slots in small steps, which begins again when another table took the place of the one it was in. It
 * looks for tombstones or for entries of segments that were given up.
 *
 * <p>Confined to the volume's writer thread.
 */
final class TableWalk {
    private final boolean tombstones;
    /** Segment and low byte of the tag that it had. */
    private final Map<Integer, Integer> segments = new HashMap<>();

    private SlotTable table;
    private long slot;

    private TableWalk(SlotTable table, boolean tombstones) {
        this.table = table;
        this.tombstones = tombstones;
    }

    static TableWalk forTombstones(SlotTable table) {
        return new TableWalk(table, true);
    }

    static TableWalk forSegments(SlotTable table) {
        return new TableWalk(table, false);
    }

    /** Looks for entries of the segment too; only before the first step. */
    void add(int segment, int tag) {
        segments.put(segment, tag);
    }

    boolean hasBegun() {
        return slot > 0;
    }

    /** Walks on by this many slots, and takes out what it finds; false at the end of the table. */
    boolean step(MappedIndex index, SlotTable current, int slots) {
        if (current != table) {
            table = current;
            slot = 0;
        }
        long end = Math.min(current.slotCount(), slot + slots);
        for (; slot < end; slot++) {
            long location = current.location(slot);
            if (Probing.isEntry(location) && isWanted(current, location)) {
                index.clear(current, slot);
            }
        }
        return slot < current.slotCount();
    }

    private boolean isWanted(SlotTable current, long location) {
        if (tombstones) {
            return SlotTable.isTombstone(current.meta(slot));
        }
        Integer tag = segments.get(Location.segment(location));
        return tag != null && tag == Location.tag(location) && !SlotTable.isTombstone(current.meta(slot));
    }
}
