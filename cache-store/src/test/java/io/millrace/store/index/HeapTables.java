package io.millrace.store.index;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Tables on the heap, made in as many steps as their file would take. */
public final class HeapTables implements TableSource {
    private final int auxiliaryBytes;
    /** Bytes written into tables in the making. */
    long bytes;

    boolean fails;
    private final boolean counting;
    private long accesses;

    HeapTables(int auxiliaryBytes, boolean counting) {
        this.auxiliaryBytes = auxiliaryBytes;
        this.counting = counting;
    }

    /** An empty, complete index for tests of other packages. */
    public static MappedIndex small(int auxiliaryBytes) {
        return index(new HeapTables(auxiliaryBytes, false), 3);
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
        HeapMemory head = memory(SlotTable.headBytes(auxiliaryBytes) / Long.BYTES);
        HeapMemory slots = memory(SlotTable.slotBytes(shift) / Long.BYTES);
        return new SlotTable(head, slots, auxiliaryBytes, shift);
    }

    private HeapMemory memory(long words) {
        return counting ? new CountingMemory(words) : new HeapMemory(words);
    }

    /** Accesses so far to the words of all tables, when they are counted; one thread makes them all. */
    long accesses() {
        return accesses;
    }

    private final class CountingMemory extends HeapMemory {
        CountingMemory(long words) {
            super(words);
        }

        @Override
        void accessed() {
            accesses++;
        }
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
