package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The pool of direct memory for a store's buffers. It has several arenas, which threads share by their number. Their
 * regions are allocated on demand and released when they are empty. If an allocator is configured, buffers are
 * allocated there instead.
 *
 * <p>After {@link #close} regions are released as soon as they are empty.
 *
 * <p>Thread-safe.
 */
public final class BodyPool {
    /** Minimum bytes of a region; short regions become empty sooner. */
    private static final int REGION_BYTES = 512 << 10;
    /** Usual maximum length of a region. The allocation of a longer one would block an event loop too long. */
    private static final int REGION_BYTES_USUALLY_MAX = 4 << 20;

    private static final int REGION_BYTES_MAX = 128 << 20;
    private static final int REGIONS_WANTED = 512;
    /** Limit of regions, because a Linux process has 65,530 mappings by default. */
    private static final int REGIONS_MAX = 16 << 10;

    private static final int ARENAS_MAX = 4;

    /** Allocator of regions; leak detection reports the buffers allocated from them. */
    private static final UnpooledByteBufAllocator REGIONS = new UnpooledByteBufAllocator(true, true, true);

    private final @Nullable ByteBufAllocator given;
    private final BodyArena[] arenas;
    private final int regionLength;

    /**
     * Creates a pool.
     *
     * @param given the configured allocator to use instead of arenas; null for arenas
     * @param bytesMax maximum bytes that will be allocated
     */
    public BodyPool(@Nullable ByteBufAllocator given, long bytesMax) {
        this(given, bytesMax, bytes -> REGIONS.directBuffer(bytes, bytes));
    }

    /** Like the other constructor, with the allocator of regions. */
    BodyPool(@Nullable ByteBufAllocator given, long bytesMax, IntFunction<ByteBuf> regions) {
        this.given = given;
        regionLength = given == null ? regionLength(bytesMax) : 0;
        arenas = new BodyArena
                [given == null ? Math.min(ARENAS_MAX, Runtime.getRuntime().availableProcessors()) : 0];
        for (int i = 0; i < arenas.length; i++) {
            arenas[i] = new BodyArena(regionLength, regions);
        }
    }

    private static int regionLength(long bytesMax) {
        int length = REGION_BYTES;
        while (length < REGION_BYTES_MAX
                && bytesMax / length > (length < REGION_BYTES_USUALLY_MAX ? REGIONS_WANTED : REGIONS_MAX)) {
            length *= 2;
        }
        return length;
    }

    /** Returns the configured allocator; null if buffers come from arenas. */
    @Nullable
    ByteBufAllocator given() {
        return given;
    }

    /** Returns the arena for this thread's next block. */
    BodyArena arena() {
        return arenas[(int) (Thread.currentThread().getId() % arenas.length)];
    }

    /** Returns the bytes that a buffer of that capacity uses. */
    long bytesFor(int capacity) {
        if (given == null) {
            return BodyArena.bytesFor(capacity);
        }
        // The size classes of Netty's pool: four per power of two.
        long step = Math.max(16, Long.highestOneBit(Math.max(1, capacity - 1)) / 4);
        return (capacity + step - 1) / step * step;
    }

    /** Returns the length of a region; 0 with a configured allocator. */
    int regionLength() {
        return regionLength;
    }

    /** Returns the bytes of all regions, used or not; 0 with a configured allocator. */
    public long chunkBytes() {
        long bytes = 0;
        for (BodyArena arena : arenas) {
            bytes += arena.regionBytes();
        }
        return bytes;
    }

    /** Releases all memory that is not in use. */
    public void close() {
        for (BodyArena arena : arenas) {
            arena.close();
        }
    }
}
