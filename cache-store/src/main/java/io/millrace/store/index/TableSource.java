package io.millrace.store.index;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A factory of tables that replace the current table of an index. */
@FunctionalInterface
interface TableSource {
    /**
     * Begins to create an empty table of 2^shift slots. Discards a new table that was begun earlier and not finished.
     */
    NewTable begin(int shift) throws IOException;

    /** A new table that is being created. Confined to one thread. */
    interface NewTable {
        /** Writes at most this many bytes of the new file. Returns the table when it is ready; null before. */
        @Nullable
        SlotTable step(int bytes) throws IOException;

        /** Replaces the file of the current table. From then on, an open of the index finds the new table. */
        void replace() throws IOException;

        /** Discards the new table and its file. */
        void discard();
    }
}
