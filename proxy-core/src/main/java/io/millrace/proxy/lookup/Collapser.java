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
     * Enters a fetch, or finds the one that is under way.
     *
     * @return the other fetch to join, or null when {@code fetch} is the one now
     */
    public @Nullable F lead(StoreKey key, F fetch) {
        return inFlight.putIfAbsent(key, fetch);
    }

    /** The fetch under way for this key. */
    public @Nullable F find(StoreKey key) {
        return inFlight.get(key);
    }

    /** Takes a fetch out, so that nobody joins it any more; nothing when another one is entered under the key. */
    public void remove(StoreKey key, F fetch) {
        inFlight.remove(key, fetch);
    }

    /** Takes out whatever is under way for this key: what it brings is out of date. */
    public void detach(StoreKey key) {
        inFlight.remove(key);
    }

    /** Fetches that can be joined now. */
    public int size() {
        return inFlight.size();
    }
}
