package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.store.CacheStore;
import io.millrace.store.ResidentReader;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import org.jspecify.annotations.Nullable;

/**
 * What one event loop finds in RAM for one request after the other without holding it: from the first look for a request to {@link #end}
 * it stays. No sooner: what is taken out of RAM by any loop meanwhile keeps its memory, and rules and rights need none of this.
 *
 * <p>Confined to one event loop.
 */
public final class UnretainedReader {
    /** Made when it is first wanted. */
    private @Nullable ResidentReader<StoredHead> reader;

    private boolean reading;

    /** What is in RAM under the key, borrowed until {@link #end}. */
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

    /** What was found and not retained may go. */
    public void end() {
        if (reading && reader != null) {
            reading = false;
            reader.end();
        }
    }

    /** No request will come any more. */
    public void close() {
        if (reader != null) {
            reader.close();
            reader = null;
            reading = false;
        }
    }
}
