package io.millrace.store;

import org.jspecify.annotations.Nullable;

/** Receives the answer of {@link CacheStore#open}, once, on the executor that was given with the question. */
@FunctionalInterface
public interface OpenCallback<H> {
    /** {@code object} is retained for the receiver, who releases it; null when absent, damaged or not to be had in time. */
    void onOpen(@Nullable StoredObject<H> object);
}
