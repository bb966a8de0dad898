package io.millrace.store.engine.listing;

import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.index.Location;
import io.millrace.store.inventory.InventoryEntry;
import io.millrace.store.inventory.ObjectList;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.BitSet;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Adds the missing entries to the list of one segment. Reads the heads of the objects that have no entry, in small
 * steps. Needed for segments that were written without an inventory, by a process that was killed, or faster than the
 * entries could be written.
 *
 * <p>Confined to the inventory's thread.
 */
final class ListFill {
    private static final int BLOCK_BYTES = 64 * 1024;
    /** Maximum number of records that a step examines. */
    private static final int EXAMINED_MAX = 4096;

    private final Volume volume;
    private final ObjectList list;
    private final SegmentSummary records;
    private final BitSet described;
    private final Describer describer;
    private final ByteArrayOutputStream pending = new ByteArrayOutputStream();
    private int pendingCount;
    /** Index in {@link #records} of the record to examine next. */
    private int nextRecord;
    /** The last error of a record that could not be read. */
    private @Nullable IOException unreadable;

    /** Reads the records of objects. */
    @FunctionalInterface
    interface Describer {
        /**
         * Reads the record at a location.
         *
         * @return null if the record is damaged, or if its segment was reclaimed or moved
         * @throws IOException if the record could not be read now
         */
        @Nullable
        InventoryEntry describe(long location) throws IOException;
    }

    /**
     * Creates a fill of a list.
     *
     * @param records the records of the segment
     * @param described offsets of the records that have an entry, as numbers of units
     */
    ListFill(Volume volume, ObjectList list, SegmentSummary records, BitSet described, Describer describer) {
        this.volume = volume;
        this.list = list;
        this.records = records;
        this.described = described;
        this.describer = describer;
    }

    /**
     * Returns the offsets of the records that have an entry in the list, as numbers of units.
     *
     * @param mayContinue returns false to end early with a part of the offsets
     */
    static BitSet described(ObjectList list, BooleanSupplier mayContinue) throws IOException {
        BitSet offsets = new BitSet();
        ObjectList.Block block = list.read(0);
        for (; block != null && mayContinue.getAsBoolean(); block = list.read(block.next())) {
            int at = 0;
            for (int length = InventoryEntry.length(block.entries(), at);
                    length > 0;
                    length = InventoryEntry.length(block.entries(), at)) {
                offsets.set(unit(InventoryEntry.offset(block.entries(), at)));
                at += length;
            }
        }
        return offsets;
    }

    /** Returns the number of the unit at an offset in a segment. */
    static int unit(long offset) {
        return (int) (offset / Location.UNIT_BYTES);
    }

    ObjectList list() {
        return list;
    }

    /** Returns the offsets of the records that have an entry, as numbers of units. */
    BitSet described() {
        return described;
    }

    /**
     * Adds entries until all are present, or until this number of records was read.
     *
     * @return true if all entries are present
     * @throws IOException if the list cannot be written, or, at the end, if a record could not be read
     */
    boolean step(int recordsMax) throws IOException {
        int recordsLeft = recordsMax;
        int end = Math.min(records.size(), nextRecord + EXAMINED_MAX);
        while (recordsLeft > 0 && nextRecord < end) {
            recordsLeft -= describeOrSkip(records.entry(nextRecord++)) ? 1 : 0;
            if (pending.size() >= BLOCK_BYTES) {
                write();
            }
        }
        if (nextRecord < records.size()) {
            return false;
        }
        if (pending.size() > 0) {
            write();
        }
        if (unreadable != null) {
            throw unreadable;
        }
        return true;
    }

    /** Like {@link #describe}; a record that cannot be read does not prevent the entries of the others. */
    private boolean describeOrSkip(SegmentSummary.@Nullable Entry record) {
        try {
            return describe(record);
        } catch (IOException e) {
            unreadable = e;
            return true;
        }
    }

    private void write() throws IOException {
        list.append(pending.toByteArray(), 0, pending.size(), pendingCount);
        pending.reset();
        pendingCount = 0;
    }

    /** Adds the entry of a record if it is missing. Returns true if the record was read. */
    private boolean describe(SegmentSummary.@Nullable Entry record) throws IOException {
        if (record == null
                || (record.type() != RecordType.COMPLETE && record.type() != RecordType.HEAD)
                || described.get(unit(record.offset()))) {
            return false;
        }
        long location = volume.find(record.hashHigh(), record.hashLow());
        if (!VolumeInventory.isAt(location, record.offset(), list.tag())) {
            return false;
        }
        InventoryEntry entry = describer.describe(location);
        long newLocation = volume.find(record.hashHigh(), record.hashLow());
        if (entry == null
                && newLocation != location
                && VolumeInventory.isAt(newLocation, record.offset(), list.tag())) {
            // The segment was moved meanwhile.
            entry = describer.describe(newLocation);
        }
        if (entry != null) {
            byte[] encoded = entry.encode();
            pending.write(encoded, 0, encoded.length);
            pendingCount++;
            described.set(unit(record.offset()));
        }
        return true;
    }
}
