package io.millrace.store;

import org.jspecify.annotations.Nullable;

/** Receives the result of {@link CacheStore#open}, once, on the executor passed to that call. */
@FunctionalInterface
public interface OpenCallback<H> {
    /**
     * {@code object} is retained for the receiver, who releases it; null if absent, damaged or not available in time.
     */
    void onOpen(@Nullable StoredObject<H> object);
}
