package io.millrace.store;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Receives the result of {@link CacheStore#remove}, once, on the executor passed to that call. */
@FunctionalInterface
public interface RemoveCallback {
    /**
     * Called with true for {@code wasPresent} if an object was stored under the key. If {@code failure} is null, the
     * removal survives kill -9. Otherwise the record of the removal could not be written, and the object may be found
     * again after a restart.
     */
    void onRemove(boolean wasPresent, @Nullable IOException failure);
}
