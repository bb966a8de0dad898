package io.millrace.store;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Receives the answer of {@link CacheStore#remove}, once, on the executor that was given with the request. */
@FunctionalInterface
public interface RemoveCallback {
    /**
     * {@code wasPresent} says whether anything was stored under the key. With {@code failure} null the removal survives
     * kill -9; otherwise it holds for this process only (the tombstone could not be appended).
     */
    void onRemove(boolean wasPresent, @Nullable IOException failure);
}
