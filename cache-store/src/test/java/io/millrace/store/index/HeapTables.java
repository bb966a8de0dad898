package io.millrace.store.index;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Tables on the heap, which grow in as many steps as tables in a file. */
public final class HeapTables implements TableSource {
    private final int auxiliaryBytes;
    /** Number of bytes written to tables that are being created. */
    long bytes;

    boolean fails;
    private final boolean counting;
    private long accesses;

    HeapTables(int auxiliaryBytes, boolean counting) {
        this.auxiliaryBytes = auxiliaryBytes;
        this.counting = counting;
    }

    /** Returns an empty, complete index for tests of other packages. */
    public static MappedIndex small(int auxiliaryBytes) {
        return index(new HeapTables(auxiliaryBytes, false), 3);
    }

    /** Returns an empty, complete index. */
    static MappedIndex index(HeapTables tables, int shift) {
        MappedIndex index = rebuilding(tables, shift);
        index.finishRebuild();
        return index;
    }

    /** Returns an empty index that is being rebuilt. */
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

    /**
     * Returns the number of accesses to the words of all tables so far, if they are counted. One thread makes all of
     * them.
     */
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
