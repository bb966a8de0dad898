package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * An arena of direct memory for bodies of any length. It allocates regions on demand, splits them into blocks of the
 * requested length, and merges adjacent free blocks. Allocation searches the list of free blocks in which every block
 * fits well. Both operations take constant time (two-level segregated fit: Masmano, Ripoll, Crespo and Real, "TLSF: a
 * new dynamic memory allocator for real-time systems", 2004).
 *
 * <pre>
 *   region  | block | block | block                   | block |
 *   block   | length 31, free 1 | length before 32 | content ...            |    used
 *           | length 31, free 1 | length before 32 | next 64 | previous 64 | ... free
 * </pre>
 *
 * <p>Lengths are those of whole blocks in bytes, multiples of {@value #GRANULE}; the length before the first block of a
 * region is 0. A place contains the region's number in the upper half and the block's offset in the lower half.
 *
 * <p>Thread-safe: one lock, held for a few loads and stores. Regions are allocated and released outside the lock.
 */
final class BodyArena {
    private static final int GRANULE = 16;
    /** Bytes before a block's content. */
    static final int HEADER = 8;

    private static final int NEXT = HEADER;
    private static final int PREVIOUS = NEXT + Long.BYTES;
    /** Minimum length: a free block contains two places. */
    private static final int BLOCK_MIN = 32;
    /** Minimum length of the rest that is split off a block. */
    private static final int REST_MIN = 64;

    private static final int FREE = 1;

    private static final int SUBLISTS_LOG2 = 4;
    private static final int SUBLISTS = 1 << SUBLISTS_LOG2;
    private static final int LEVEL_MIN = 5;
    private static final int LEVELS = Integer.SIZE - 1 - LEVEL_MIN;
    /** Number of blocks checked in the list where only some fit, before the next list, in which all fit. */
    private static final int LOOKS_MAX = 8;

    private static final long NONE = -1;

    private final int regionLength;
    private final IntFunction<ByteBuf> source;
    private final ReentrantLock lock = new ReentrantLock();

    /** Regions by number; written under the lock, never over a region in use. */
    private volatile @Nullable ByteBuf[] regions = new ByteBuf[16];

    // Guarded by the lock.
    private int levels;
    private final int[] sublists = new int[LEVELS];
    private final long[] heads = new long[LEVELS * SUBLISTS];
    /** Number of regions without a used block. */
    private int empty;

    private long regionBytes;
    private boolean closed;

    /**
     * @param regionLength bytes of a region; a longer body has a region of its own
     * @param source allocates regions: direct buffers of at least the length, which the arena releases
     */
    BodyArena(int regionLength, IntFunction<ByteBuf> source) {
        this.regionLength = regionLength / GRANULE * GRANULE;
        this.source = source;
        Arrays.fill(heads, NONE);
    }

    /**
     * Allocates a block for this number of bytes. The caller owns the region's memory from {@link #offset} on until
     * {@link #free}.
     */
    long allocate(int length) {
        int need = blockLength(length);
        long place = cut(need);
        if (place != NONE) {
            return place;
        }
        int bytes = Math.max(need, regionLength);
        return cutFromNew(source.apply(bytes), bytes, need);
    }

    private static int blockLength(int length) {
        if (length < 0 || length > Integer.MAX_VALUE - HEADER - GRANULE) {
            throw new IllegalArgumentException("a body of " + length + " bytes");
        }
        return Math.max(BLOCK_MIN, (length + HEADER + GRANULE - 1) / GRANULE * GRANULE);
    }

    /** Returns the region's number. */
    static int regionNumber(long place) {
        return (int) (place >>> Integer.SIZE);
    }

    /** Returns the place with this {@link #regionNumber} and {@link #offset}. */
    static long place(int regionNumber, int offset) {
        return ((long) regionNumber << Integer.SIZE) | (offset - HEADER);
    }

    /** Returns the offset of a block's content in its region. */
    static int offset(long place) {
        return (int) place + HEADER;
    }

    /**
     * Returns the region of a place in use. Call on the thread that allocated the place, or on a thread to which the
     * place was safely published.
     */
    ByteBuf region(long place) {
        return regionOf(place);
    }

    /** Returns the bytes of a place in use; the threads of {@link #region} may call it. */
    int bytes(long place) {
        return length(regionOf(place), (int) place);
    }

    /** Returns the minimum bytes of a block for this content length. */
    static int bytesFor(int length) {
        return blockLength(length);
    }

    /** Frees a block. */
    void free(long place) {
        ByteBuf unused;
        lock.lock();
        try {
            unused = giveBack(place);
        } finally {
            lock.unlock();
        }
        if (unused != null) {
            unused.release();
        }
    }

    /** Returns the bytes of all regions. */
    long regionBytes() {
        lock.lock();
        try {
            return regionBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Releases all regions without a used block, now and in future. */
    void close() {
        ByteBuf[] unused;
        lock.lock();
        try {
            closed = true;
            unused = new ByteBuf[regions.length];
            for (int number = 0; number < regions.length; number++) {
                ByteBuf region = regions[number];
                if (region != null && isWhole(region, 0) && isFree(region, 0)) {
                    unlink(region, (long) number << Integer.SIZE);
                    unused[number] = take(number);
                    empty--;
                }
            }
        } finally {
            lock.unlock();
        }
        for (ByteBuf region : unused) {
            if (region != null) {
                region.release();
            }
        }
    }

    /**
     * Uses the new region even if another one has room in the meantime. Otherwise the new one would stay empty, even
     * after the arena was closed.
     */
    private long cutFromNew(ByteBuf region, int bytes, int need) {
        lock.lock();
        try {
            long place = (long) add(region, bytes) << Integer.SIZE;
            header(region, 0, bytes, true);
            region.setInt(Integer.BYTES, 0);
            cutOff(region, place, need);
            return place;
        } finally {
            lock.unlock();
        }
    }

    /** Adds a region and returns its number. */
    private int add(ByteBuf region, int bytes) {
        int number = 0;
        while (number < regions.length && regions[number] != null) {
            number++;
        }
        if (number == regions.length) {
            regions = Arrays.copyOf(regions, number * 2);
        }
        regions[number] = region.setIndex(0, 0).capacity(bytes);
        regionBytes += bytes;
        return number;
    }

    private ByteBuf take(int number) {
        ByteBuf region = regionOf((long) number << Integer.SIZE);
        regions[number] = null;
        regionBytes -= region.capacity();
        return region;
    }

    private long cut(int need) {
        lock.lock();
        try {
            long place = find(need);
            if (place == NONE) {
                return NONE;
            }
            ByteBuf region = regionOf(place);
            unlink(region, place);
            if (isWhole(region, (int) place)) {
                empty--;
            }
            cutOff(region, place, need);
            return place;
        } finally {
            lock.unlock();
        }
    }

    /** Turns a free block that is in no list into a used one; the rest becomes a free block. */
    private void cutOff(ByteBuf region, long place, int need) {
        int at = (int) place;
        int length = length(region, at);
        int rest = length - need;
        if (rest < REST_MIN) {
            header(region, at, length, false);
            return;
        }
        header(region, at, need, false);
        header(region, at + need, rest, true);
        region.setInt(at + need + Integer.BYTES, need);
        setPreviousLength(region, at + need, rest);
        link(region, place + need);
    }

    private long find(int need) {
        int list = list(need);
        long place = heads[list];
        for (int looks = 0; place != NONE && looks < LOOKS_MAX; looks++) {
            ByteBuf region = regionOf(place);
            if (length(region, (int) place) >= need) {
                return place;
            }
            place = region.getLong((int) place + NEXT);
        }
        return firstAbove(list);
    }

    private long firstAbove(int list) {
        int level = list >>> SUBLISTS_LOG2;
        int in = sublists[level] & (-2 << (list & (SUBLISTS - 1)));
        if (in == 0) {
            int above = levels & (-2 << level);
            if (above == 0) {
                return NONE;
            }
            level = Integer.numberOfTrailingZeros(above);
            in = sublists[level];
        }
        return heads[(level << SUBLISTS_LOG2) + Integer.numberOfTrailingZeros(in)];
    }

    private @Nullable ByteBuf giveBack(long place) {
        ByteBuf region = regionOf(place);
        int at = (int) place;
        int length = length(region, at);
        if (isFree(region, at)) {
            throw new IllegalStateException("a block is released twice");
        }
        header(region, at, length, true);
        int next = at + length;
        if (next < region.capacity() && isFree(region, next)) {
            unlink(region, place + length);
            length += length(region, next);
        }
        int before = region.getInt(at + Integer.BYTES);
        if (before > 0 && isFree(region, at - before)) {
            at -= before;
            unlink(region, place - before);
            length += before;
        }
        header(region, at, length, true);
        setPreviousLength(region, at, length);
        if (length == region.capacity()) {
            if (closed || empty > 0 || length != regionLength) {
                return take(regionNumber(place));
            }
            empty++;
        }
        link(region, place - (int) place + at);
        return null;
    }

    private static void setPreviousLength(ByteBuf region, int at, int length) {
        if (at + length < region.capacity()) {
            region.setInt(at + length + Integer.BYTES, length);
        }
    }

    private void link(ByteBuf region, long place) {
        int list = list(length(region, (int) place));
        long head = heads[list];
        region.setLong((int) place + NEXT, head);
        region.setLong((int) place + PREVIOUS, NONE);
        if (head != NONE) {
            regionOf(head).setLong((int) head + PREVIOUS, place);
        }
        heads[list] = place;
        sublists[list >>> SUBLISTS_LOG2] |= 1 << (list & (SUBLISTS - 1));
        levels |= 1 << (list >>> SUBLISTS_LOG2);
    }

    private void unlink(ByteBuf region, long place) {
        long next = region.getLong((int) place + NEXT);
        long previous = region.getLong((int) place + PREVIOUS);
        if (next != NONE) {
            regionOf(next).setLong((int) next + PREVIOUS, previous);
        }
        if (previous != NONE) {
            regionOf(previous).setLong((int) previous + NEXT, next);
            return;
        }
        int list = list(length(region, (int) place));
        heads[list] = next;
        if (next == NONE) {
            int level = list >>> SUBLISTS_LOG2;
            sublists[level] &= ~(1 << (list & (SUBLISTS - 1)));
            if (sublists[level] == 0) {
                levels &= ~(1 << level);
            }
        }
    }

    /** Returns the list of a length: sixteen lists per power of two. */
    private static int list(int length) {
        int level = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(length);
        return ((level - LEVEL_MIN) << SUBLISTS_LOG2) + ((length >>> (level - SUBLISTS_LOG2)) & (SUBLISTS - 1));
    }

    private ByteBuf regionOf(long place) {
        ByteBuf region = regions[regionNumber(place)];
        if (region == null) {
            throw new IllegalStateException("no region remains");
        }
        return region;
    }

    private static void header(ByteBuf region, int at, int length, boolean free) {
        region.setInt(at, length | (free ? FREE : 0));
    }

    private static int length(ByteBuf region, int at) {
        return region.getInt(at) & ~FREE;
    }

    private static boolean isFree(ByteBuf region, int at) {
        return (region.getInt(at) & FREE) != 0;
    }

    private static boolean isWhole(ByteBuf region, int at) {
        return at == 0 && length(region, 0) == region.capacity();
    }
}
