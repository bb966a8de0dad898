package io.millrace.proxy.lookup;

import io.millrace.store.StoreKey;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The fetches in flight that other requests for the same key may join: request collapsing.
 *
 * <p>Thread-safe: shared by all event loops.
 *
 * @param <F> a fetch in flight
 */
public final class Collapser<F> {
    private final ConcurrentHashMap<StoreKey, F> inFlight = new ConcurrentHashMap<>();

    /**
     * Registers a fetch, unless one of the same key is in flight.
     *
     * @return the fetch in flight to join, or null when {@code fetch} is registered now
     */
    public @Nullable F lead(StoreKey key, F fetch) {
        return inFlight.putIfAbsent(key, fetch);
    }

    /** Returns the fetch in flight of this key; null for none. */
    public @Nullable F find(StoreKey key) {
        return inFlight.get(key);
    }

    /**
     * Removes a fetch, so that no other request can join it. Does nothing when another fetch is registered under the
     * key.
     */
    public void remove(StoreKey key, F fetch) {
        inFlight.remove(key, fetch);
    }

    /** Removes the fetch in flight of this key, since its response is outdated. */
    public void detach(StoreKey key) {
        inFlight.remove(key);
    }

    /** Number of fetches that can be joined now. */
    public int size() {
        return inFlight.size();
    }
}
