package io.millrace.store.index;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The construction, in small steps, of a new table that replaces the current table of an index. First the file of the
 * new table is written, then the auxiliary area (the states of the volume's segments) is copied, then the slots. Until
 * the end the old table is complete and in use. Once the copy of slots has begun, every change is made in both tables.
 * An entry that the new table has already is therefore up to date, and the copy skips it.
 *
 * <p>Confined to the volume's writer thread.
 */
final class Growth {
    private final SlotTable from;
    private final TableSource.NewTable newTable;
    private final SegmentAges ages;
    private @Nullable SlotTable to;
    private int nextAuxiliaryWord;
    private long nextSlot;

    Growth(SlotTable from, TableSource.NewTable newTable, SegmentAges ages) {
        this.from = from;
        this.newTable = newTable;
        this.ages = ages;
    }

    /** Returns the new table if changes of the auxiliary area must also be made there; otherwise null. */
    @Nullable
    SlotTable auxiliaryTarget() {
        return to;
    }

    /** Returns the new table if changes of entries must also be made there; otherwise null. */
    @Nullable
    SlotTable target() {
        return nextAuxiliaryWord == from.auxiliaryWords ? to : null;
    }

    /**
     * Performs one step: at most this many bytes of the file or the auxiliary area, or this many slots.
     *
     * @return the new table once it has replaced the old one; null before
     * @throws IOException if the table cannot be created; the caller must then {@link #discard}
     */
    @Nullable
    SlotTable step(int bytes, int slots) throws IOException {
        SlotTable table = to;
        if (table == null) {
            to = newTable.step(bytes);
            return null;
        }
        if (nextAuxiliaryWord < from.auxiliaryWords) {
            copyAuxiliary(table, bytes / Long.BYTES);
            return null;
        }
        if (nextSlot < from.slotCount()) {
            copySlots(table, slots);
            return null;
        }
        table.field(SlotTable.COMPLETE_AT, from.field(SlotTable.COMPLETE_AT));
        if (from.isDamaged()) {
            table.damaged();
        }
        table.field(SlotTable.APPLIED_AT, from.field(SlotTable.APPLIED_AT));
        newTable.replace();
        return table;
    }

    private void copyAuxiliary(SlotTable table, int words) {
        int end = Math.min(from.auxiliaryWords, nextAuxiliaryWord + words);
        for (; nextAuxiliaryWord < end; nextAuxiliaryWord++) {
            table.auxiliary(nextAuxiliaryWord, from.auxiliary(nextAuxiliaryWord));
        }
    }

    private void copySlots(SlotTable table, int slots) throws IOException {
        long end = Math.min(from.slotCount(), nextSlot + slots);
        for (; nextSlot < end; nextSlot++) {
            long slot = nextSlot;
            long location = from.location(slot);
            if (!from.isSound(slot)) {
                // Record the damage, because the copied slot would have a valid checksum.
                table.damaged();
            }
            if (!Probing.isEntry(location)) {
                continue;
            }
            long meta = from.meta(slot);
            if (ages.age(location) < 0 && !SlotTable.isTombstone(meta)) {
                // The segment no longer contains the record.
                continue;
            }
            long place = Probing.place(table, from.hashHigh(slot), from.hashLow(slot));
            if (place == Probing.NO_PLACE) {
                throw new IOException("new table full: slots=" + table.slotCount());
            }
            if (place < 0) {
                Probing.fill(table, ~place, from.hashHigh(slot), from.hashLow(slot), location, meta);
            }
        }
    }

    void discard() {
        newTable.discard();
    }
}
