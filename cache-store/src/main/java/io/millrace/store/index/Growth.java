package io.millrace.store.index;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A table on its way to replace another, in small steps: its file is written, then the auxiliary area is copied, then slot
 * after slot. The old table stays complete and in use. Once the slots' turn has come, every change of the old table is
 * made in the new one too, so an entry that is met there already is as new as the one that is copied.
 *
 * <p>Confined to the volume's writer thread.
 */
final class Growth {
    private final SlotTable from;
    private final TableSource.NewTable making;
    private final SegmentAges ages;
    private @Nullable SlotTable to;
    private int auxiliaryAt;
    private long slot;

    Growth(SlotTable from, TableSource.NewTable making, SegmentAges ages) {
        this.from = from;
        this.making = making;
        this.ages = ages;
    }

    /** The table that takes changes of the auxiliary area, null while there is none. */
    @Nullable
    SlotTable auxiliaryTarget() {
        return to;
    }

    /** The table that takes changes of entries, null while there is none. */
    @Nullable
    SlotTable target() {
        return auxiliaryAt == from.auxiliaryWords ? to : null;
    }

    /**
     * Goes on by this many bytes, or slots.
     *
     * @return the new table when it is in place, null before
     * @throws IOException when the table cannot be made; {@link #discard} is next
     */
    @Nullable
    SlotTable step(int bytes, int slots) throws IOException {
        SlotTable table = to;
        if (table == null) {
            to = making.step(bytes);
            return null;
        }
        if (auxiliaryAt < from.auxiliaryWords) {
            copyAuxiliary(table, bytes / Long.BYTES);
            return null;
        }
        if (slot < from.slotCount()) {
            copySlots(table, slots);
            return null;
        }
        table.field(SlotTable.COMPLETE_AT, from.field(SlotTable.COMPLETE_AT));
        if (from.isDamaged()) {
            table.damaged();
        }
        table.field(SlotTable.APPLIED_AT, from.field(SlotTable.APPLIED_AT));
        making.replace();
        return table;
    }

    private void copyAuxiliary(SlotTable table, int words) {
        int end = Math.min(from.auxiliaryWords, auxiliaryAt + words);
        for (; auxiliaryAt < end; auxiliaryAt++) {
            table.auxiliary(auxiliaryAt, from.auxiliary(auxiliaryAt));
        }
    }

    private void copySlots(SlotTable table, int slots) throws IOException {
        long end = Math.min(from.slotCount(), slot + slots);
        for (; slot < end; slot++) {
            long location = from.location(slot);
            if (!from.isSound(slot)) {
                // The copy would look sound.
                table.damaged();
            }
            if (!Probing.isEntry(location)) {
                continue;
            }
            long meta = from.meta(slot);
            if (ages.age(location) < 0 && !SlotTable.isTombstone(meta)) {
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
        making.discard();
    }
}
