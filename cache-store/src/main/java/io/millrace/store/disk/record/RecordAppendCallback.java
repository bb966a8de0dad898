package io.millrace.store.disk.record;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Receives the result of an append. Called on the volume's thread, once per record. */
@FunctionalInterface
public interface RecordAppendCallback {
    /**
     * Called when the record was written and indexed, or when the append failed.
     *
     * @param failure reason of the failure, null after success. After a failure the record's key has no object on this
     *     volume.
     */
    void appended(@Nullable IOException failure);
}
