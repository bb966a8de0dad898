package io.millrace.store.admission;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * How often each hash was counted of late, about: a count-min sketch of four rows of 4-bit counters. The four counters of
 * a hash lie in one block of 64 bytes, so that counting touches one cache line.
 *
 * <pre>
 *   block:  | row 0: 2 longs | row 1: 2 longs | row 2: 2 longs | row 3: 2 longs |   16 counters in each long
 * </pre>
 *
 * <p>When ten counts were made for each long, or {@value #COUNTS_PER_OBJECT} for each object, {@link #age} halves every
 * counter: the old is forgotten, and popular objects do not all stand where a counter ends.
 *
 * <p>Thread-safe. A count that meets another on the same long may get lost. {@link #age} is for one thread.
 */
final class FrequencySketch {
    /** Where a counter stops. */
    static final int COUNT_MAX = 15;

    private static final int LONGS_MIN = 1 << 7;
    private static final int LONGS_MAX = 1 << 22;
    private static final int BLOCK_SHIFT = 3;
    private static final int ROWS = 4;
    private static final int COUNTS_PER_LONG = 10;
    /** Counts for each object of the cache before counters are halved, where that is sooner. */
    private static final int COUNTS_PER_OBJECT = 60;
    /** With next to no objects, counts before counters are halved. */
    private static final int COUNTS_MIN = 1 << 10;

    private static final int AGED_AT_ONCE = 1 << 19;
    private static final long HALVED = 0x7777_7777_7777_7777L;

    private final AtomicLongArray longs;
    private final int blockMask;
    private final LongAdder counts = new LongAdder();
    /** Longs still to be halved in the present ageing. */
    private int toAge;

    /** A sketch of about this many longs. */
    FrequencySketch(long longsWanted) {
        int count = LONGS_MIN;
        while (count < LONGS_MAX && count < longsWanted) {
            count <<= 1;
        }
        longs = new AtomicLongArray(count);
        blockMask = (count >>> BLOCK_SHIFT) - 1;
    }

    /** Counts the hash. */
    void count(long hash) {
        long mixed = mix(hash);
        for (int row = 0; row < ROWS; row++) {
            int at = at(mixed, row);
            int shift = shift(mixed, row);
            long before = longs.getOpaque(at);
            if (((before >>> shift) & COUNT_MAX) < COUNT_MAX) {
                longs.compareAndSet(at, before, before + (1L << shift));
            }
        }
        counts.increment();
    }

    /** How often the hash was counted, up to {@link #COUNT_MAX}; too much when it shares all its counters. */
    int frequency(long hash) {
        long mixed = mix(hash);
        int least = COUNT_MAX;
        for (int row = 0; row < ROWS; row++) {
            least = Math.min(least, (int) (longs.getOpaque(at(mixed, row)) >>> shift(mixed, row)) & COUNT_MAX);
        }
        return least;
    }

    private int at(long mixed, int row) {
        int block = (int) (mixed >>> 32) & blockMask;
        return (block << BLOCK_SHIFT) + 2 * row + (int) ((mixed >>> (5 * row)) & 1);
    }

    private static int shift(long mixed, int row) {
        return (int) ((mixed >>> (5 * row + 1)) & 0xF) << 2;
    }

    private static long mix(long hash) {
        long z = (hash ^ (hash >>> 32)) * 0x9E37_79B9_7F4A_7C15L;
        return z ^ (z >>> 29);
    }

    /** Halves counters when it is time for a cache of this many objects; a bounded number of them for each call. */
    void age(long objects) {
        long most = (long) COUNTS_PER_LONG * longs.length();
        long enough = Math.min(most, Math.max(COUNTS_MIN, COUNTS_PER_OBJECT * objects));
        long counted = counts.sum();
        if (toAge == 0 && counted >= enough) {
            counts.add(-counted);
            toAge = longs.length();
        }
        for (int i = 0; i < AGED_AT_ONCE && toAge > 0; i++) {
            toAge--;
            long before = longs.getOpaque(toAge);
            longs.compareAndSet(toAge, before, (before >>> 1) & HALVED);
        }
    }
}
