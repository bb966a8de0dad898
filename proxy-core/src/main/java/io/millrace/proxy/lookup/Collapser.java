package io.millrace.proxy.lookup;

import io.millrace.store.StoreKey;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A table for request collapsing: the fetches in flight, by cache key. Further requests for a key join its fetch.
 *
 * <p>Thread-safe: shared by all event loops.
 *
 * @param <F> the type of the fetches
 */
public final class Collapser<F> {
    private final ConcurrentHashMap<StoreKey, F> inFlight = new ConcurrentHashMap<>();

    /**
     * Registers a fetch, unless the table already has a fetch for the key.
     *
     * @return the fetch in flight to join, or null when {@code fetch} is registered now
     */
    public @Nullable F registerIfAbsent(StoreKey key, F fetch) {
        return inFlight.putIfAbsent(key, fetch);
    }

    /** Returns the registered fetch for the key; null for none. */
    public @Nullable F find(StoreKey key) {
        return inFlight.get(key);
    }

    /**
     * Removes a fetch, so that no other request can join it. Has no effect if another fetch is registered under the
     * key.
     */
    public void remove(StoreKey key, F fetch) {
        inFlight.remove(key, fetch);
    }

    /** Removes the fetch of a key after an invalidation (purge). Requests that have joined the fetch still use it. */
    public void detach(StoreKey key) {
        inFlight.remove(key);
    }

    /** Number of fetches that can be joined now. */
    public int size() {
        return inFlight.size();
    }
}
