package io.millrace.proxy.purge;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A hash table from 64-bit hashes to purge stamps, with open addressing in one array. A stamp needs 24 to 36
 * bytes. A stamp is a number that increases with each purge. Removal copies the table to a new array.
 *
 * <pre>
 *   slot: hash (0: empty) | stamp
 * </pre>
 *
 * <p>Any thread may read without a lock. Changes need the lock of the owner.
 */
final class StampTable {
    private static final int SLOT_LONGS = 2;
    private static final int SLOTS_MIN = 16;

    private volatile AtomicLongArray slots = new AtomicLongArray(SLOT_LONGS * SLOTS_MIN);
    private volatile int size;

    int size() {
        return size;
    }

    /** Returns the size of the array in bytes. */
    long bytes() {
        return 8L * slots.length();
    }

    /** Returns the stamp of a hash; 0 for none. */
    long stamp(long hash) {
        if (size == 0) {
            return 0;
        }
        AtomicLongArray now = slots;
        int at = find(now, notZero(hash));
        return now.get(at) == 0 ? 0 : now.get(at + 1);
    }

    /** Sets the stamp of a hash, unless the hash has a higher stamp. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes at a time
    void raise(long hash, long stamp) {
        long key = notZero(hash);
        int at = find(slots, key);
        if (slots.get(at) != 0) {
            slots.set(at + 1, Math.max(slots.get(at + 1), stamp));
            return;
        }
        int count = slots.length() / SLOT_LONGS;
        if (3L * (size + 1) > 2L * count) {
            slots = copy(slots, count + count / 2, 0);
            at = find(slots, key);
        }
        // The stamp is set before the hash, so that a reader that finds the hash also finds the stamp.
        slots.set(at + 1, stamp);
        slots.set(at, key);
        size = size + 1;
    }

    /**
     * Lowers a stamp from {@code from} to {@code to}. Has no effect if the stamp has another value.
     *
     * @param to the new stamp; 0 for none, which {@code forget(0)} then removes
     */
    void lower(long hash, long from, long to) {
        int at = find(slots, notZero(hash));
        if (slots.get(at) != 0 && slots.get(at + 1) == from) {
            slots.set(at + 1, to);
        }
    }

    /**
     * Removes all stamps up to {@code upTo}. Before the call, the caller must set the stamp of a wider scope that
     * covers them, so that a reader always finds one of the two.
     */
    void forget(long upTo) {
        AtomicLongArray from = slots;
        int kept = 0;
        for (int at = 0; at < from.length(); at += SLOT_LONGS) {
            kept += isKept(from, at, upTo) ? 1 : 0;
        }
        if (kept == size) {
            return;
        }
        slots = copy(from, Math.max(SLOTS_MIN, kept + kept / 2 + 1), upTo);
        size = kept;
    }

    private static boolean isKept(AtomicLongArray slots, int at, long upTo) {
        return slots.get(at) != 0 && slots.get(at + 1) > upTo;
    }

    private static AtomicLongArray copy(AtomicLongArray from, int count, long upTo) {
        AtomicLongArray to = new AtomicLongArray(SLOT_LONGS * count);
        for (int at = 0; at < from.length(); at += SLOT_LONGS) {
            if (isKept(from, at, upTo)) {
                int place = find(to, from.get(at));
                to.setPlain(place, from.get(at));
                to.setPlain(place + 1, from.get(at + 1));
            }
        }
        return to;
    }

    interface Visitor {
        void visit(long hash, long stamp);
    }

    void forEach(Visitor visitor) {
        AtomicLongArray now = slots;
        for (int at = 0; at < now.length(); at += SLOT_LONGS) {
            if (now.get(at) != 0) {
                visitor.visit(now.get(at), now.get(at + 1));
            }
        }
    }

    /** Returns the index of the key, or of the empty slot for it. */
    private static int find(AtomicLongArray slots, long key) {
        int count = slots.length() / SLOT_LONGS;
        int slot = (int) ((((key * 0x9E37_79B9_7F4A_7C15L) >>> 32) * count) >>> 32);
        while (true) {
            long found = slots.get(slot * SLOT_LONGS);
            if (found == 0 || found == key) {
                return slot * SLOT_LONGS;
            }
            slot++;
            if (slot == count) {
                slot = 0;
            }
        }
    }

    private static long notZero(long hash) {
        return hash == 0 ? 1 : hash;
    }
}
