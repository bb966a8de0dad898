package io.millrace.store;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Receives the result of {@link CacheStore#remove}, once, on the executor passed to that call. */
@FunctionalInterface
public interface RemoveCallback {
    /**
     * {@code wasPresent} is true if an object was stored under the key. If {@code failure} is null, the removal
     * survives kill -9. Otherwise the tombstone could not be appended, and the removal holds only for this process.
     */
    void onRemove(boolean wasPresent, @Nullable IOException failure);
}
