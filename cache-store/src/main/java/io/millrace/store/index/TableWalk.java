package io.millrace.store.index;

import java.util.HashMap;
import java.util.Map;

/**
 * A scan of all slots in small steps that removes tombstones (entries of removed keys), or entries of reclaimed
 * segments. The scan restarts if another table replaces the scanned table.
 *
 * <p>Confined to the volume's writer thread.
 */
final class TableWalk {
    /** True if the scan removes tombstones; false if it removes entries of reclaimed segments. */
    private final boolean tombstones;
    /**
     * Reclaimed segments: maps each segment number to the low byte of the tag that the segment had before it was
     * reclaimed. A tag is a random number, new for each use of a segment. The location of an entry contains this byte.
     */
    private final Map<Integer, Integer> tagsBySegment = new HashMap<>();

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

    /** Adds a segment whose entries are removed. Call only before the first step. */
    void add(int segment, int tag) {
        tagsBySegment.put(segment, tag);
    }

    boolean hasBegun() {
        return slot > 0;
    }

    /** Scans this many slots and removes matching entries. Returns false at the end of the table. */
    boolean step(MappedIndex index, SlotTable current, int slots) {
        if (current != table) {
            table = current;
            slot = 0;
        }
        long end = Math.min(current.slotCount(), slot + slots);
        for (; slot < end; slot++) {
            long location = current.location(slot);
            if (Probing.isEntry(location) && mustRemove(current, location)) {
                index.clear(current, slot);
            }
        }
        return slot < current.slotCount();
    }

    private boolean mustRemove(SlotTable current, long location) {
        if (tombstones) {
            return SlotTable.isTombstone(current.meta(slot));
        }
        Integer tag = tagsBySegment.get(Location.segment(location));
        return tag != null && tag == Location.tag(location) && !SlotTable.isTombstone(current.meta(slot));
    }
}
