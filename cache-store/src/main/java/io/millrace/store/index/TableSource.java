package io.millrace.store.index;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Makes tables that are to replace the one in use. */
@FunctionalInterface
interface TableSource {
    /** Begins an empty table of 2^shift slots, beside the one in use and instead of one begun before. */
    NewTable begin(int shift) throws IOException;

    /** A table in the making. Confined to one thread. */
    interface NewTable {
        /** Does some {@code bytes} of the work; the table once it is ready, null before. */
        @Nullable
        SlotTable step(int bytes) throws IOException;

        /** Makes the ready table the one that is found when the index is opened next. */
        void replace() throws IOException;

        /** Gives it up. */
        void discard();
    }
}
