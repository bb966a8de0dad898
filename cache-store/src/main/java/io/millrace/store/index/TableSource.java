package io.millrace.store.index;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Creates tables that replace the current one. */
@FunctionalInterface
interface TableSource {
    /** Begins an empty table of 2^shift slots beside the current one; discards a table begun before. */
    NewTable begin(int shift) throws IOException;

    /** A table being created. Confined to one thread. */
    interface NewTable {
        /** Performs {@code bytes} of the work; returns the table when it is ready, null before. */
        @Nullable
        SlotTable step(int bytes) throws IOException;

        /** Replaces the file, so that the next open of the index finds the new table. */
        void replace() throws IOException;

        /** Discards the table. */
        void discard();
    }
}
