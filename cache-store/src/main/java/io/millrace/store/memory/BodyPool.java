package io.millrace.store.memory;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * The direct memory that a store's buffers are cut from: chunks that are allocated when they are needed and given back
 * when nothing is left in them. No thread keeps buffers of its own, since what one puts in another takes out.
 *
 * <p>After {@link #close} the pool is unreachable from here, so that its last buffer takes it along; what is allocated
 * then is not pooled.
 *
 * <p>Thread-safe.
 */
public final class BodyPool extends AbstractByteBufAllocator {
    private static final int PAGE_BYTES = 8192;
    /** Chunks of 512 KiB: small ones become empty. */
    private static final int ORDER = 6;
    /** More of them are searched too long, each time that nothing of one has room for a body. */
    private static final int CHUNKS_SEARCHED = 1 << 9;
    /** Of 4 MiB: a larger one is zeroed too long, on an event loop. */
    private static final int ORDER_ZEROED = 9;

    private static final int ORDER_MAX = 14;
    /** A process has 65,530 mappings. */
    private static final int CHUNKS_MAX = 16 << 10;

    private static final int ARENAS_MAX = 4;

    private final @Nullable ByteBufAllocator given;
    private volatile @Nullable PooledByteBufAllocator pool;

    /**
     * A pool.
     *
     * @param given to be used instead of a pool of its own; null for that
     * @param bytesMax how much will be allocated at most
     */
    public BodyPool(@Nullable ByteBufAllocator given, long bytesMax) {
        super(true);
        this.given = given;
        if (given == null) {
            int arenas = Math.min(ARENAS_MAX, Runtime.getRuntime().availableProcessors());
            pool = new PooledByteBufAllocator(true, 0, arenas, PAGE_BYTES, order(bytesMax), 0, 0, false);
        }
    }

    private static int order(long bytesMax) {
        int order = ORDER;
        while (order < ORDER_MAX) {
            long chunks = bytesMax / ((long) PAGE_BYTES << order);
            if (chunks <= (order < ORDER_ZEROED ? CHUNKS_SEARCHED : CHUNKS_MAX)) {
                break;
            }
            order++;
        }
        return order;
    }

    /** Length of a chunk; 0 when the pool is not its own. */
    int chunkLength() {
        PooledByteBufAllocator current = pool;
        return current == null ? 0 : current.metric().chunkSize();
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        ByteBufAllocator source = given != null ? given : pool;
        return (source == null ? UnpooledByteBufAllocator.DEFAULT : source).directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return given == null ? pool != null : given.isDirectBufferPooled();
    }

    /** Bytes of all chunks, used or not; 0 when the pool is not its own. */
    public long chunkBytes() {
        PooledByteBufAllocator current = pool;
        return current == null ? 0 : current.metric().usedDirectMemory();
    }

    /** Lets go of the pool. */
    public void close() {
        pool = null;
    }
}
