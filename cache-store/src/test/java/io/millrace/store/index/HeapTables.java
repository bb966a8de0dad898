package io.millrace.store.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tables on the heap, made in as many steps as their file would take. */
final class HeapTables implements TableSource {
    private final int auxiliaryBytes;
    private final List<HeapMemory> memories = new ArrayList<>();
    /** Bytes written into tables in the making. */
    long bytes;

    boolean fails;

    HeapTables(int auxiliaryBytes) {
        this.auxiliaryBytes = auxiliaryBytes;
    }

    /** An empty, complete index. */
    static MappedIndex index(HeapTables tables, int shift) {
        MappedIndex index = rebuilding(tables, shift);
        index.finishRebuild();
        return index;
    }

    /** An empty index that is being rebuilt. */
    static MappedIndex rebuilding(HeapTables tables, int shift) {
        return new MappedIndex(tables, "heap", tables.table(shift), true);
    }

    SlotTable table(int shift) {
        HeapMemory head = new HeapMemory(SlotTable.headBytes(auxiliaryBytes) / Long.BYTES);
        HeapMemory slots = new HeapMemory(SlotTable.slotBytes(shift) / Long.BYTES);
        memories.add(head);
        memories.add(slots);
        return new SlotTable(head, slots, auxiliaryBytes, shift);
    }

    /** Accesses so far to the words of all tables. */
    long accesses() {
        long sum = 0;
        for (HeapMemory memory : memories) {
            sum += memory.accesses;
        }
        return sum;
    }

    @Override
    public NewTable begin(int shift) throws IOException {
        if (fails) {
            throw new IOException("no space left, on purpose");
        }
        return new Making(shift);
    }

    private final class Making implements NewTable {
        private final int shift;
        private long left;

        Making(int shift) {
            this.shift = shift;
            left = SlotTable.headBytes(auxiliaryBytes) + SlotTable.slotBytes(shift);
        }

        @Override
        public @Nullable SlotTable step(int most) throws IOException {
            if (fails) {
                throw new IOException("no space left, on purpose");
            }
            long count = Math.min(most, left);
            left -= count;
            bytes += count;
            return count > 0 ? null : table(shift);
        }

        @Override
        public void replace() {
            // There is no file to rename.
        }

        @Override
        public void discard() {
            left = 0;
        }
    }
}
