package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The pool of direct memory for a store's buffers. It consists of several arenas; the id of a thread determines its
 * arena. An arena allocates large regions on demand, and releases a region when the region is empty. An allocator that
 * the store's configuration provides replaces the arenas.
 *
 * <p>After {@link #close} each region is released as soon as it is empty. Before, an arena may keep one empty region.
 *
 * <p>Thread-safe.
 */
public final class BodyPool {
    /** Minimum bytes of a region. Short regions become empty sooner than long ones. */
    private static final int REGION_BYTES_MIN = 512 << 10;
    /**
     * Maximum bytes of a region, except in very large pools. The allocation of a longer region would block an event
     * loop too long.
     */
    private static final int REGION_BYTES_USUALLY_MAX = 4 << 20;

    private static final int REGION_BYTES_MAX = 128 << 20;
    /** Number of regions above which regions are made longer, up to {@link #REGION_BYTES_USUALLY_MAX}. */
    private static final int REGIONS_WANTED = 512;
    /** Maximum number of regions, because Linux allows a process 65,530 memory mappings by default. */
    private static final int REGIONS_MAX = 16 << 10;

    private static final int ARENAS_MAX = 4;

    /** Allocator of regions, without leak detection: leak detection tracks the buffers in the regions. */
    private static final UnpooledByteBufAllocator REGIONS = new UnpooledByteBufAllocator(true, true, true);

    private final @Nullable ByteBufAllocator configured;
    private final BodyArena[] arenas;
    private final int regionLength;

    /**
     * Creates a pool.
     *
     * @param configured the allocator to use instead of arenas; null for arenas
     * @param bytesMax maximum bytes of the buffers together; determines the length of regions
     */
    public BodyPool(@Nullable ByteBufAllocator configured, long bytesMax) {
        this(configured, bytesMax, bytes -> REGIONS.directBuffer(bytes, bytes));
    }

    /** Creates a pool with another allocator of regions. */
    BodyPool(@Nullable ByteBufAllocator configured, long bytesMax, IntFunction<ByteBuf> regions) {
        this.configured = configured;
        regionLength = configured == null ? regionLength(bytesMax) : 0;
        arenas = new BodyArena
                [configured == null ? Math.min(ARENAS_MAX, Runtime.getRuntime().availableProcessors()) : 0];
        for (int i = 0; i < arenas.length; i++) {
            arenas[i] = new BodyArena(regionLength, regions);
        }
    }

    private static int regionLength(long bytesMax) {
        int length = REGION_BYTES_MIN;
        while (length < REGION_BYTES_MAX
                && bytesMax / length > (length < REGION_BYTES_USUALLY_MAX ? REGIONS_WANTED : REGIONS_MAX)) {
            length *= 2;
        }
        return length;
    }

    /** Returns the configured allocator; null if buffers are allocated from arenas. */
    @Nullable
    ByteBufAllocator configured() {
        return configured;
    }

    /** Returns the arena for this thread's next block. */
    BodyArena arena() {
        return arenas[(int) (Thread.currentThread().getId() % arenas.length)];
    }

    /** Returns the arena with this number. */
    BodyArena arena(int number) {
        return arenas[number];
    }

    /** Returns the number of an arena. */
    int number(BodyArena arena) {
        return List.of(arenas).indexOf(arena);
    }

    /** Returns the bytes of memory that a buffer of this capacity uses. */
    long bytesFor(int capacity) {
        if (configured == null) {
            return BodyArena.bytesFor(capacity);
        }
        // Netty's pooled allocator has four size classes per power of two.
        long step = Math.max(16, Long.highestOneBit(Math.max(1, capacity - 1)) / 4);
        return (capacity + step - 1) / step * step;
    }

    /** Returns the length of a region; 0 with a configured allocator. */
    int regionLength() {
        return regionLength;
    }

    /**
     * Returns the bytes of all regions (the chunks of {@link MemoryBudget}), used or not. 0 with a configured
     * allocator.
     */
    public long chunkBytes() {
        long bytes = 0;
        for (BodyArena arena : arenas) {
            bytes += arena.regionBytes();
        }
        return bytes;
    }

    /** Closes the pool: releases the regions that contain no buffer, now or later. */
    public void close() {
        for (BodyArena arena : arenas) {
            arena.close();
        }
    }
}
