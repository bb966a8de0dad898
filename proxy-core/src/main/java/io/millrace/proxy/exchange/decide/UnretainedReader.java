package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.store.CacheStore;
import io.millrace.store.ResidentReader;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import org.jspecify.annotations.Nullable;

/**
 * Reads objects in RAM for one event loop without a reference count, by epoch-based reclamation. The epoch lasts from
 * the first lookup of a request to {@link #end}. During an epoch, the memory of all evicted objects stays allocated, so
 * epochs must be short.
 *
 * <p>Confined to one event loop.
 */
public final class UnretainedReader {
    /** Created at the first use. */
    private @Nullable ResidentReader<StoredHead> reader;

    private boolean reading;

    /** Returns the object in RAM under the key, borrowed until {@link #end}; null for none. */
    @Nullable
    StoredObject<StoredHead> find(CacheStore<StoredHead> store, StoreKey key) {
        ResidentReader<StoredHead> residents = reader;
        if (residents == null) {
            residents = store.residentReader();
            reader = residents;
        }
        if (!reading) {
            residents.begin();
            reading = true;
        }
        return residents.get(key);
    }

    /** Ends the epoch: objects that were found and not retained may be freed. */
    public void end() {
        if (reading && reader != null) {
            reading = false;
            reader.end();
        }
    }

    /** Closes the reader. Call once no more requests arrive. */
    public void close() {
        if (reader != null) {
            reader.close();
            reader = null;
            reading = false;
        }
    }
}
