package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The direct memory that a store's buffers are cut from: some arenas, which threads share by their number, of regions that are
 * allocated when they are needed and given back when nothing is left in them. With an allocator that is given, that one's buffers.
 *
 * <p>After {@link #close} regions go as they become empty.
 *
 * <p>Thread-safe.
 */
public final class BodyPool {
    /** Short regions become empty. */
    private static final int REGION_BYTES = 512 << 10;
    /** A longer one is allocated too long, on an event loop. */
    private static final int REGION_BYTES_USUALLY_MAX = 4 << 20;

    private static final int REGION_BYTES_MAX = 128 << 20;
    private static final int REGIONS_WANTED = 512;
    /** A process has 65,530 mappings. */
    private static final int REGIONS_MAX = 16 << 10;

    private static final int ARENAS_MAX = 4;

    /** Whose leaks show in what was cut from them. */
    private static final UnpooledByteBufAllocator REGIONS = new UnpooledByteBufAllocator(true, true, true);

    private final @Nullable ByteBufAllocator given;
    private final BodyArena[] arenas;
    private final int regionLength;

    /**
     * A pool.
     *
     * @param given to be used instead of a pool of its own; null for that
     * @param bytesMax how much will be allocated at most
     */
    public BodyPool(@Nullable ByteBufAllocator given, long bytesMax) {
        this(given, bytesMax, bytes -> REGIONS.directBuffer(bytes, bytes));
    }

    /** As above, with what makes regions. */
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

    /** The allocator that buffers come from; null when they come from arenas. */
    @Nullable
    ByteBufAllocator given() {
        return given;
    }

    /** Where this thread's next block comes from. */
    BodyArena arena() {
        return arenas[(int) (Thread.currentThread().getId() % arenas.length)];
    }

    /** What a buffer of that capacity takes. */
    long bytesFor(int capacity) {
        if (given == null) {
            return BodyArena.bytesFor(capacity);
        }
        // What Netty's pool sets aside: there are four sizes to each power of two.
        long step = Math.max(16, Long.highestOneBit(Math.max(1, capacity - 1)) / 4);
        return (capacity + step - 1) / step * step;
    }

    /** Length of a region; 0 when the pool is not its own. */
    int regionLength() {
        return regionLength;
    }

    /** Bytes of all regions, used or not; 0 when the pool is not its own. */
    public long chunkBytes() {
        long bytes = 0;
        for (BodyArena arena : arenas) {
            bytes += arena.regionBytes();
        }
        return bytes;
    }

    /** Keeps nothing that is not in use. */
    public void close() {
        for (BodyArena arena : arenas) {
            arena.close();
        }
    }
}
