package io.millrace.store;

import org.jspecify.annotations.Nullable;

/** Receives the result of {@link CacheStore#open}, once, on the executor passed to that call. */
@FunctionalInterface
public interface OpenCallback<H> {
    /**
     * Called with the object, which the receiver must release. {@code object} is null if it is absent or damaged, or
     * could not be read in time.
     */
    void onOpen(@Nullable StoredObject<H> object);
}
