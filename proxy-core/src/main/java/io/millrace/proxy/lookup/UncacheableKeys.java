package io.millrace.proxy.lookup;

import io.millrace.store.StoreKey;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The keys whose responses could not be stored recently, with the reason. Requests for these keys are not collapsed,
 * because each request needs its own response.
 *
 * <p>A hash table of fixed size, 512 KiB. Each key has one slot; a later key of the same slot overwrites it:
 *
 * <pre>
 * bits 63 to 37: part of the key's hash | bits 36 to 32: reason | bits 31 to 0: expiry, seconds since the epoch
 * </pre>
 *
 * Two keys with the same slot and the same hash bits count as one key. The only effect: requests for both keys are not
 * collapsed.
 *
 * <p>Thread-safe without locks: shared by all event loops.
 */
public final class UncacheableKeys {
    private static final int SLOTS = 1 << 16;
    private static final long EXPIRY_MASK = 0xffff_ffffL;
    private static final int REASON_SHIFT = 32;
    private static final int REASON_MASK = 31;
    private static final long HASH_MASK = -1L << 37;

    private final AtomicLongArray slots = new AtomicLongArray(SLOTS);

    /**
     * Adds the key. It expires after {@code seconds}; 0 adds nothing.
     *
     * @param reason a number from 0 to 31 that the caller chooses
     */
    public void add(StoreKey key, int reason, long nowMillis, long seconds) {
        if (seconds > 0) {
            long expiry = (seconds(nowMillis) + seconds) & EXPIRY_MASK;
            // No memory fence is needed: if another event loop does not see the new key yet, its request for the key
            // only waits once more for the response to another request.
            slots.lazySet(slot(key), hashBits(key) | ((long) (reason & REASON_MASK) << REASON_SHIFT) | expiry);
        }
    }

    /** Removes the key: its response can be stored now. */
    public void remove(StoreKey key) {
        int slot = slot(key);
        long value = slots.get(slot);
        if (value != 0 && (value & HASH_MASK) == hashBits(key)) {
            slots.compareAndSet(slot, value, 0);
        }
    }

    /** Returns true if the table contains the key. */
    public boolean contains(StoreKey key, long nowMillis) {
        return reason(key, nowMillis) >= 0;
    }

    /** Returns the reason that was given for the key; -1 if the table does not contain it. */
    public int reason(StoreKey key, long nowMillis) {
        long value = slots.get(slot(key));
        boolean isKnown =
                value != 0 && (value & HASH_MASK) == hashBits(key) && seconds(nowMillis) < (value & EXPIRY_MASK);
        return isKnown ? (int) (value >>> REASON_SHIFT) & REASON_MASK : -1;
    }

    /** Returns the second since 1970 at which the key expires; 0 if the table does not contain it. */
    public long expirySeconds(StoreKey key, long nowMillis) {
        long value = slots.get(slot(key));
        return reason(key, nowMillis) < 0 ? 0 : value & EXPIRY_MASK;
    }

    private static int slot(StoreKey key) {
        return (int) key.hashLow() & (SLOTS - 1);
    }

    private static long hashBits(StoreKey key) {
        return key.hashHigh() & HASH_MASK;
    }

    private static long seconds(long millis) {
        return Math.floorDiv(millis, 1000L);
    }
}
