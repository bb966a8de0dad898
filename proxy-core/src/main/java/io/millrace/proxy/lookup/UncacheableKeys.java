package io.millrace.proxy.lookup;

import io.millrace.store.StoreKey;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Remembers for a while the keys whose responses could not be stored: requests for them must not wait for each other, as each
 * gets a response of its own in the end.
 *
 * <p>A table of fixed size, 512 KiB, in which a key has one slot and a later one takes it over:
 *
 * <pre>
 * slot: 63 ... 32 bits of the key's hash | 31 ... 0 expiry, seconds since the epoch
 * </pre>
 *
 * Two keys that agree in slot and bits are taken for one: their requests do not wait for each other, no more.
 *
 * <p>Thread-safe: shared by all event loops, no locks.
 */
public final class UncacheableKeys {
    private static final int SLOTS = 1 << 16;
    private static final long LOW = 0xffff_ffffL;

    private final AtomicLongArray slots = new AtomicLongArray(SLOTS);

    /** Remembers the key for this many seconds. */
    public void add(StoreKey key, long nowMillis, long seconds) {
        if (seconds > 0) {
            slots.set(slot(key), mark(key) | ((seconds(nowMillis) + seconds) & LOW));
        }
    }

    /** Forgets the key: its response can be stored now. */
    public void remove(StoreKey key) {
        int slot = slot(key);
        long value = slots.get(slot);
        if (value != 0 && (value & ~LOW) == mark(key)) {
            slots.compareAndSet(slot, value, 0);
        }
    }

    /** Whether the key is remembered. */
    public boolean contains(StoreKey key, long nowMillis) {
        long value = slots.get(slot(key));
        return value != 0 && (value & ~LOW) == mark(key) && seconds(nowMillis) < (value & LOW);
    }

    private static int slot(StoreKey key) {
        return (int) key.hashLow() & (SLOTS - 1);
    }

    private static long mark(StoreKey key) {
        return key.hashHigh() & ~LOW;
    }

    private static long seconds(long millis) {
        return Math.floorDiv(millis, 1000L);
    }
}
