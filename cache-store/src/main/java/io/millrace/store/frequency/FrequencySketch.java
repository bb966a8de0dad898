package io.millrace.store.frequency;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * An approximate counter of recent requests per hash. It is a count-min sketch with four rows of 4-bit counters. The
 * four counters of a hash are in one block of 64 bytes, so that one count accesses only one cache line. The first block
 * follows {@value #LONGS_UNUSED} unused longs, which together with the 16 bytes of the array's header fill a cache
 * line.
 *
 * <pre>
 *   block:  | row 0: 2 longs | row 1: 2 longs | row 2: 2 longs | row 3: 2 longs |   16 counters in each long
 * </pre>
 *
 * <p>After ten counts per long, or a configured number per object of the cache, whichever is earlier, {@link #age} halves
 * every counter. Old requests thus lose weight, and popular objects do not all reach the maximum.
 *
 * <p>The array is created with the first count, so that a cache without requests needs no memory for it.
 *
 * <p>Thread-safe. Concurrent counts in the same long may be lost. {@link #age} is confined to one thread.
 */
public final class FrequencySketch {
    /** Maximum of a counter (saturating). */
    public static final int COUNT_MAX = 15;

    private static final int LONGS_MIN = 1 << 7;
    private static final int LONGS_MAX = 1 << 22;
    private static final int BLOCK_SHIFT = 3;
    private static final int LONGS_UNUSED = 6;
    private static final int ROWS = 4;
    private static final int COUNTS_PER_LONG = 10;
    /** Minimum counts before counters are halved, for a cache with almost no objects. */
    private static final int COUNTS_MIN = 1 << 10;

    /** Clears the bit that a shift of the long moves from one 4-bit counter into the next. */
    private static final long HALVING_MASK = 0x7777_7777_7777_7777L;

    /** The counters; null before the first count. */
    private volatile @Nullable AtomicLongArray longs;

    private final int countsPerObject;
    private final int longsHalvedPerCall;
    private final int blockMask;
    /** Number of longs with counters. */
    private final int length;

    private final LongAdder counts = new LongAdder();
    /** Number of longs that are still to be halved. */
    private int longsToHalve;

    /**
     * Creates a sketch.
     *
     * @param longsWanted approximate number of longs; one long per object is enough
     * @param countsPerObject counts per object of the cache before counters are halved, if ten per long are not reached
     *     earlier
     * @param longsHalvedPerCall maximum number of longs that one call of {@link #age} halves
     */
    public FrequencySketch(long longsWanted, int countsPerObject, int longsHalvedPerCall) {
        this.countsPerObject = countsPerObject;
        this.longsHalvedPerCall = longsHalvedPerCall;
        int count = LONGS_MIN;
        while (count < LONGS_MAX && count < longsWanted) {
            count <<= 1;
        }
        length = count;
        blockMask = (length >>> BLOCK_SHIFT) - 1;
    }

    /** Returns the number of longs with counters. */
    public int longs() {
        return length;
    }

    /**
     * Returns a sketch of twice the length with the same counts; this sketch if it has the maximum length. Confined to
     * the thread of {@link #age}; concurrent counts may be lost.
     */
    public FrequencySketch doubled() {
        FrequencySketch larger = new FrequencySketch(2L * length, countsPerObject, longsHalvedPerCall);
        AtomicLongArray counters = longs;
        if (larger.length == length) {
            return this;
        }
        if (counters != null) {
            AtomicLongArray copies = larger.created();
            for (int i = 0; i < length; i++) {
                long value = counters.getPlain(LONGS_UNUSED + i);
                copies.setPlain(LONGS_UNUSED + i, value);
                copies.setPlain(LONGS_UNUSED + length + i, value);
            }
            larger.counts.add(counts.sum());
        }
        return larger;
    }

    /** Adds one to the count of the hash; returns true if one of its counters changed. Any thread. */
    public boolean count(long hash) {
        AtomicLongArray existing = longs;
        AtomicLongArray counters = existing == null ? created() : existing;
        long mixed = mix(hash);
        boolean changed = false;
        for (int row = 0; row < ROWS; row++) {
            int at = at(mixed, row);
            int shift = shift(mixed, row);
            long before = counters.getOpaque(at);
            if (((before >>> shift) & COUNT_MAX) < COUNT_MAX) {
                changed |= counters.compareAndSet(at, before, before + (1L << shift));
            }
        }
        counts.increment();
        return changed;
    }

    /** Creates the array. If two threads do so at once, counts in one of the arrays are lost. */
    private AtomicLongArray created() {
        AtomicLongArray counters = new AtomicLongArray(LONGS_UNUSED + length);
        longs = counters;
        return counters;
    }

    /**
     * Returns the recent count of the hash, at most {@link #COUNT_MAX}. It is too high if other hashes share all four
     * counters.
     */
    public int frequency(long hash) {
        AtomicLongArray counters = longs;
        if (counters == null) {
            return 0;
        }
        long mixed = mix(hash);
        int least = COUNT_MAX;
        for (int row = 0; row < ROWS; row++) {
            least = Math.min(least, (int) (counters.getOpaque(at(mixed, row)) >>> shift(mixed, row)) & COUNT_MAX);
        }
        return least;
    }

    private int at(long mixed, int row) {
        int block = (int) (mixed >>> 32) & blockMask;
        return LONGS_UNUSED + (block << BLOCK_SHIFT) + 2 * row + (int) ((mixed >>> (5 * row)) & 1);
    }

    private static int shift(long mixed, int row) {
        return (int) ((mixed >>> (5 * row + 1)) & 0xF) << 2;
    }

    private static long mix(long hash) {
        long z = (hash ^ (hash >>> 32)) * 0x9E37_79B9_7F4A_7C15L;
        return z ^ (z >>> 29);
    }

    /**
     * Halves the counters when enough counts were made for a cache of this many objects. One call halves a bounded
     * number of longs; the next calls continue.
     */
    public void age(long objects) {
        if (longs == null) {
            return;
        }
        long countsOfFullSketch = (long) COUNTS_PER_LONG * length;
        long countsMax = Math.min(countsOfFullSketch, Math.max(COUNTS_MIN, countsPerObject * objects));
        long counted = counts.sum();
        if (longsToHalve == 0 && counted >= countsMax) {
            counts.add(-counted);
            longsToHalve = length;
        }
        halve();
    }

    /**
     * Begins to halve the counters, as {@link #age} does; {@link #halve} continues. Call only after an earlier pass has
     * ended; see {@link #isHalving}. Confined to the same thread.
     */
    public void beginHalving() {
        longsToHalve = length;
    }

    /** Returns true until all counters are halved. Confined to the same thread. */
    public boolean isHalving() {
        return longsToHalve > 0;
    }

    /** Halves a bounded number of the longs that are still to be halved. Confined to the same thread. */
    public void halve() {
        AtomicLongArray counters = longs;
        if (counters == null) {
            return;
        }
        for (int i = 0; i < longsHalvedPerCall && longsToHalve > 0; i++) {
            longsToHalve--;
            int at = LONGS_UNUSED + longsToHalve;
            long before = counters.getOpaque(at);
            counters.compareAndSet(at, before, (before >>> 1) & HALVING_MASK);
        }
    }
}
