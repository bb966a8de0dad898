package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * An arena of direct memory for bodies of any length. It allocates large regions on demand, splits them into blocks of
 * the requested length, and merges adjacent free blocks. Free blocks are in lists by length, so that allocation and
 * release take constant time (two-level segregated fit: Masmano, Ripoll, Crespo and Real, "TLSF: a new dynamic memory
 * allocator for real-time systems", 2004).
 *
 * <pre>
 *   region  | block | block | block                   | block |
 *   block   | length 31, free 1 | length before 32 | owners 32 | unused 32 | content ... |    used
 *           | length 31, free 1 | length before 32 | next 64   | previous 64 | ...           free
 * </pre>
 *
 * <p>"length" is the length of the block in bytes, with its header, and a multiple of {@value #GRANULE}. "length
 * before" is the length of the preceding block; it is 0 for the first block of a region. "Owners" is a count that the
 * user of the block maintains; see {@link BlockOwners}. "next" and "previous" are places in a list of free blocks. A
 * place identifies a block: the upper 32 bits are the number of the region, and the lower 32 bits the offset of the
 * block.
 *
 * <p>Thread-safe: one lock, held for a few loads and stores. Regions are allocated and released outside the lock.
 */
final class BodyArena {
    private static final int GRANULE = 16;
    /** Bytes of a block before its content. */
    static final int HEADER = 16;

    // Offsets of fields in a block, in bytes.
    private static final int OWNERS = 2 * Integer.BYTES;
    private static final int NEXT = 2 * Integer.BYTES;
    private static final int PREVIOUS = NEXT + Long.BYTES;
    /** Minimum length of a block: a free block must contain its header and two places. */
    private static final int BLOCK_MIN = 32;
    /** Minimum length of the remaining part that is split off as a free block. */
    private static final int REMAINDER_MIN = 64;

    private static final int FREE = 1;

    private static final int SUBLISTS_LOG2 = 4;
    private static final int SUBLISTS = 1 << SUBLISTS_LOG2;
    /** Log2 of the minimum length of a block; the lists of level 0 contain blocks from this length on. */
    private static final int LEVEL_MIN = 5;

    private static final int LEVELS = Integer.SIZE - 1 - LEVEL_MIN;
    /**
     * Maximum number of blocks that an allocation checks in the list for its length, where some blocks are too short.
     * In each list for greater lengths, all blocks are long enough.
     */
    private static final int CHECKED_BLOCKS_MAX = 8;

    private static final long NONE = -1;

    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final int regionLength;
    private final IntFunction<ByteBuf> source;
    private final ReentrantLock lock = new ReentrantLock();

    /** Regions by number. Written under the lock; the entry of a region in use never changes. */
    private volatile @Nullable ByteBuf[] regions = new ByteBuf[16];
    /** For each region, a view of its memory for atomic access. Written like {@link #regions}, but before it. */
    private volatile @Nullable ByteBuffer[] views = new ByteBuffer[16];

    // Guarded by the lock.
    /** One bit for each level: set if a list of the level contains a free block. */
    private int levels;
    /** For each level, one bit for each of its lists: set if the list contains a free block. */
    private final int[] sublists = new int[LEVELS];
    /** Place of the first block of each list; {@link #NONE} for an empty list. */
    private final long[] heads = new long[LEVELS * SUBLISTS];
    /** Number of regions that have no used block. */
    private int emptyRegions;

    private long regionBytes;
    private boolean closed;

    /**
     * Creates an arena without regions.
     *
     * @param regionLength bytes of a region; a longer body gets a separate region
     * @param source allocates a region: a direct buffer of at least this many bytes, which the arena releases
     */
    BodyArena(int regionLength, IntFunction<ByteBuf> source) {
        this.regionLength = regionLength / GRANULE * GRANULE;
        this.source = source;
        Arrays.fill(heads, NONE);
    }

    /**
     * Allocates a block for this number of bytes, and returns its place. Until {@link #free}, the caller owns the
     * memory of the region from {@link #offset} on.
     */
    long allocate(int length) {
        int need = blockLength(length);
        long place = allocateFromFree(need);
        if (place != NONE) {
            return place;
        }
        int bytes = Math.max(need, regionLength);
        return allocateFromNew(source.apply(bytes), bytes, need);
    }

    private static int blockLength(int length) {
        if (length < 0 || length > Integer.MAX_VALUE - HEADER - GRANULE) {
            throw new IllegalArgumentException("the length of a body is out of range: " + length + " bytes");
        }
        return Math.max(BLOCK_MIN, (length + HEADER + GRANULE - 1) / GRANULE * GRANULE);
    }

    /** Returns the number of the region in a place. */
    static int regionNumber(long place) {
        return (int) (place >>> Integer.SIZE);
    }

    /** Returns the place with this {@link #regionNumber} and {@link #offset}. */
    static long place(int regionNumber, int offset) {
        return ((long) regionNumber << Integer.SIZE) | (offset - HEADER);
    }

    /** Returns the offset of the block's content in its region, in bytes. */
    static int offset(long place) {
        return (int) place + HEADER;
    }

    /**
     * Returns the region of a used block. Call on the thread that allocated the block, or on a thread to which the
     * place was safely published.
     */
    ByteBuf region(long place) {
        return regionOf(place);
    }

    /**
     * Returns the length of a used block in bytes, with its header. The same threads as for {@link #region} may call
     * it.
     */
    int bytes(long place) {
        return length(regionOf(place), (int) place);
    }

    /** Sets the owner count of a block that was just allocated. */
    void setOwners(long place, int count) {
        INTS.setVolatile(viewOf(place), (int) place + OWNERS, count);
    }

    /**
     * Adds to the owner count of a used block, atomically, and returns the count before. The same threads as for
     * {@link #region} may call it.
     */
    int addOwners(long place, int count) {
        return (int) INTS.getAndAdd(viewOf(place), (int) place + OWNERS, count);
    }

    private ByteBuffer viewOf(long place) {
        ByteBuffer view = views[regionNumber(place)];
        if (view == null) {
            throw new IllegalStateException("the region of a block is missing");
        }
        return view;
    }

    /** Returns the minimum length in bytes of a block for this content length. */
    static int bytesFor(int length) {
        return blockLength(length);
    }

    /** Frees the block at the place. */
    void free(long place) {
        ByteBuf unused;
        lock.lock();
        try {
            unused = freeAndMerge(place);
        } finally {
            lock.unlock();
        }
        if (unused != null) {
            unused.release();
        }
    }

    /** Returns the total bytes of all regions. */
    long regionBytes() {
        lock.lock();
        try {
            return regionBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Closes the arena: releases each region that has no used block, now or later. */
    void close() {
        ByteBuf[] unused;
        lock.lock();
        try {
            closed = true;
            unused = new ByteBuf[regions.length];
            for (int number = 0; number < regions.length; number++) {
                ByteBuf region = regions[number];
                if (region != null && isOnlyBlock(region, 0) && isFree(region, 0)) {
                    unlink(region, (long) number << Integer.SIZE);
                    unused[number] = removeRegion(number);
                    emptyRegions--;
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
     * Adds a region and allocates a block in it, even if another region has space by now. Otherwise the new region
     * could stay unused, even after the arena was closed.
     */
    private long allocateFromNew(ByteBuf region, int bytes, int need) {
        lock.lock();
        try {
            long place = (long) add(region, bytes) << Integer.SIZE;
            header(region, 0, bytes, true);
            region.setInt(Integer.BYTES, 0);
            use(region, place, need);
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
            views = Arrays.copyOf(views, number * 2);
            regions = Arrays.copyOf(regions, number * 2);
        }
        ByteBuf added = region.setIndex(0, 0).capacity(bytes);
        views[number] = added.nioBuffer(0, bytes);
        regions[number] = added;
        regionBytes += bytes;
        return number;
    }

    private ByteBuf removeRegion(int number) {
        ByteBuf region = regionOf((long) number << Integer.SIZE);
        regions[number] = null;
        views[number] = null;
        regionBytes -= region.capacity();
        return region;
    }

    private long allocateFromFree(int need) {
        lock.lock();
        try {
            long place = find(need);
            if (place == NONE) {
                return NONE;
            }
            ByteBuf region = regionOf(place);
            unlink(region, place);
            if (isOnlyBlock(region, (int) place)) {
                emptyRegions--;
            }
            use(region, place, need);
            return place;
        } finally {
            lock.unlock();
        }
    }

    /** Marks a free block, which is in no list, as used. The part that is not needed becomes a free block. */
    private void use(ByteBuf region, long place, int need) {
        int at = (int) place;
        int length = length(region, at);
        int remainder = length - need;
        if (remainder < REMAINDER_MIN) {
            header(region, at, length, false);
            return;
        }
        header(region, at, need, false);
        header(region, at + need, remainder, true);
        region.setInt(at + need + Integer.BYTES, need);
        setPreviousLength(region, at + need, remainder);
        link(region, place + need);
    }

    private long find(int need) {
        int list = list(need);
        long place = heads[list];
        for (int checked = 0; place != NONE && checked < CHECKED_BLOCKS_MAX; checked++) {
            ByteBuf region = regionOf(place);
            if (length(region, (int) place) >= need) {
                return place;
            }
            place = region.getLong((int) place + NEXT);
        }
        return firstOfLongerLists(list);
    }

    private long firstOfLongerLists(int list) {
        int level = list >>> SUBLISTS_LOG2;
        int longerLists = sublists[level] & (-2 << (list & (SUBLISTS - 1)));
        if (longerLists == 0) {
            int above = levels & (-2 << level);
            if (above == 0) {
                return NONE;
            }
            level = Integer.numberOfTrailingZeros(above);
            longerLists = sublists[level];
        }
        return heads[(level << SUBLISTS_LOG2) + Integer.numberOfTrailingZeros(longerLists)];
    }

    private @Nullable ByteBuf freeAndMerge(long place) {
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
            if (closed || emptyRegions > 0 || length != regionLength) {
                return removeRegion(regionNumber(place));
            }
            emptyRegions++;
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

    /** Returns the number of the list for a length; there are sixteen lists per power of two. */
    private static int list(int length) {
        int level = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(length);
        return ((level - LEVEL_MIN) << SUBLISTS_LOG2) + ((length >>> (level - SUBLISTS_LOG2)) & (SUBLISTS - 1));
    }

    private ByteBuf regionOf(long place) {
        ByteBuf region = regions[regionNumber(place)];
        if (region == null) {
            throw new IllegalStateException("the region of a block is missing");
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

    private static boolean isOnlyBlock(ByteBuf region, int at) {
        return at == 0 && length(region, 0) == region.capacity();
    }
}
