package io.millrace.proxy.purge;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Stamps by 64-bit hash: of each the newest hard and the newest soft one. Open addressing in one array; stamps only rise, and
 * what is taken out leaves in a new array without it.
 *
 * <pre>
 *   slot: hash (0: empty) | hard stamp | soft stamp
 * </pre>
 *
 * <p>Read on any thread without a lock; changed under the lock of its owner.
 */
final class HashedStamps {
    private static final int SLOT_LONGS = 3;
    private static final int SLOTS_MIN = 16;

    private final int entriesMax;
    private volatile AtomicLongArray slots = new AtomicLongArray(SLOT_LONGS * SLOTS_MIN);
    private volatile int size;

    /** At most so many entries. */
    HashedStamps(int entriesMax) {
        this.entriesMax = entriesMax;
    }

    /** The newest hard stamp, 0 for none. */
    long hard(long hash) {
        return stamp(hash, 1);
    }

    /** The newest soft stamp, 0 for none. */
    long soft(long hash) {
        return stamp(hash, 2);
    }

    private long stamp(long hash, int which) {
        if (size == 0) {
            return 0;
        }
        AtomicLongArray now = slots;
        int at = find(now, notZero(hash));
        return now.get(at) == 0 ? 0 : now.get(at + which);
    }

    int size() {
        return size;
    }

    /** Raises a stamp; false when there is no room for one more. */
    boolean raise(long hash, long stamp, boolean soft) {
        long key = notZero(hash);
        int before = size;
        int at = find(slots, key);
        if (slots.get(at) == 0) {
            if (before >= entriesMax) {
                return false;
            }
            if ((before + 1) * 2 > slots.length() / SLOT_LONGS) {
                slots = grown(slots);
                at = find(slots, key);
            }
            // The stamps first: who finds the hash finds them.
            set(slots, at, stamp, soft);
            slots.set(at, key);
            size = before + 1;
        } else {
            set(slots, at, stamp, soft);
        }
        return true;
    }

    private static void set(AtomicLongArray slots, int at, long stamp, boolean soft) {
        int place = at + (soft ? 2 : 1);
        slots.set(place, Math.max(slots.get(place), stamp));
    }

    private static AtomicLongArray grown(AtomicLongArray from) {
        AtomicLongArray larger = new AtomicLongArray(from.length() * 2);
        for (int at = 0; at < from.length(); at += SLOT_LONGS) {
            if (from.get(at) != 0) {
                int to = find(larger, from.get(at));
                for (int i = 0; i < SLOT_LONGS; i++) {
                    larger.set(to + i, from.get(at + i));
                }
            }
        }
        return larger;
    }

    /**
     * Takes out what wider stamps make needless, which must be in force already: of who finds nothing here any more they are found.
     *
     * @param hardUpTo hard stamps up to this one, 0 for none
     * @param softUpTo soft stamps up to this one, 0 for none
     */
    void forget(long hardUpTo, long softUpTo) {
        AtomicLongArray from = slots;
        int left = 0;
        for (int at = 0; at < from.length(); at += SLOT_LONGS) {
            left += isLeft(from, at, hardUpTo, softUpTo) ? 1 : 0;
        }
        int count = SLOTS_MIN;
        while (left * 2 > count) {
            count *= 2;
        }
        AtomicLongArray fresh = new AtomicLongArray(SLOT_LONGS * count);
        for (int at = 0; at < from.length(); at += SLOT_LONGS) {
            if (isLeft(from, at, hardUpTo, softUpTo)) {
                int to = find(fresh, from.get(at));
                fresh.set(to, from.get(at));
                fresh.set(to + 1, beyond(from.get(at + 1), hardUpTo));
                fresh.set(to + 2, beyond(from.get(at + 2), Math.max(hardUpTo, softUpTo)));
            }
        }
        slots = fresh;
        size = left;
    }

    private static boolean isLeft(AtomicLongArray slots, int at, long hardUpTo, long softUpTo) {
        return slots.get(at) != 0 && (slots.get(at + 1) > hardUpTo || slots.get(at + 2) > Math.max(hardUpTo, softUpTo));
    }

    private static long beyond(long stamp, long upTo) {
        return stamp > upTo ? stamp : 0;
    }

    /** Whether a quarter is free, and one entry at least. */
    boolean hasRoom() {
        return size < entriesMax && size <= entriesMax / 4 * 3;
    }

    /**
     * The stamp that half of them do not exceed; 0 when they are too few for that to be far from the newest, less than a quarter
     * of the table.
     *
     * @param soft whether among the soft stamps of those that have no hard one; else among the hard ones
     */
    long middle(boolean soft) {
        AtomicLongArray now = slots;
        long[] stamps = new long[size];
        int count = 0;
        for (int at = 0; at < now.length(); at += SLOT_LONGS) {
            long hard = now.get(at + 1);
            if (now.get(at) != 0 && (hard > 0) != soft) {
                stamps[count++] = soft ? now.get(at + 2) : hard;
            }
        }
        Arrays.sort(stamps, 0, count);
        return count == 0 || count < entriesMax / 4 ? 0 : stamps[(count - 1) / 2];
    }

    interface Visitor {
        void visit(long hash, long hard, long soft);
    }

    void each(Visitor visitor) {
        AtomicLongArray now = slots;
        for (int at = 0; at < now.length(); at += SLOT_LONGS) {
            if (now.get(at) != 0) {
                visitor.visit(now.get(at), now.get(at + 1), now.get(at + 2));
            }
        }
    }

    /** Where the key is, or the empty slot where it would be. */
    private static int find(AtomicLongArray slots, long key) {
        int count = slots.length() / SLOT_LONGS;
        int slot = (int) ((key * 0x9E37_79B9_7F4A_7C15L) >>> 40) & (count - 1);
        while (true) {
            long there = slots.get(slot * SLOT_LONGS);
            if (there == 0 || there == key) {
                return slot * SLOT_LONGS;
            }
            slot = (slot + 1) & (count - 1);
        }
    }

    private static long notZero(long hash) {
        return hash == 0 ? 1 : hash;
    }
}
