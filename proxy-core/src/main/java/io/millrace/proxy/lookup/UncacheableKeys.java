package io.millrace.proxy.lookup;

import io.millrace.store.StoreKey;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The keys whose responses could not be stored recently. Requests for them do not wait for each other, as each needs a
 * response of its own.
 *
 * <p>A table of fixed size, 512 KiB. Each key has one slot, and a later key overwrites it:
 *
 * <pre>
 * slot: 63 ... 32 bits of the key's hash | 31 ... 0 expiry, seconds since the epoch
 * </pre>
 *
 * Two keys with equal slot and bits count as the same key. The only effect is that their requests do not wait for each
 * other.
 *
 * <p>Thread-safe without locks: shared by all event loops.
 */
public final class UncacheableKeys {
    private static final int SLOTS = 1 << 16;
    private static final long LOW = 0xffff_ffffL;

    private final AtomicLongArray slots = new AtomicLongArray(SLOTS);

    /** Adds the key for this many seconds. */
    public void add(StoreKey key, long nowMillis, long seconds) {
        if (seconds > 0) {
            slots.set(slot(key), mark(key) | ((seconds(nowMillis) + seconds) & LOW));
        }
    }

    /** Removes the key: its response can be stored now. */
    public void remove(StoreKey key) {
        int slot = slot(key);
        long value = slots.get(slot);
        if (value != 0 && (value & ~LOW) == mark(key)) {
            slots.compareAndSet(slot, value, 0);
        }
    }

    /** Returns true if the table contains the key. */
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
