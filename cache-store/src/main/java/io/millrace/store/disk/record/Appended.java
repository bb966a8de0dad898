package io.millrace.store.disk.record;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Receives the result of an append. Called on the volume's thread, once per record. */
@FunctionalInterface
public interface Appended {
    /**
     * With null, the record is written and in the index. Otherwise it is not, for the given reason, and its key holds
     * no object on this volume.
     */
    void appended(@Nullable IOException failure);
}
