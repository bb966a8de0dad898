package io.millrace.proxy;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * The memory pool of one proxy: one arena for each event loop, apart from Netty's shared one, so that a closed proxy gives all of it
 * back. After {@link #close} the pool is unreachable, whoever still holds the proxy; what is allocated then is not pooled.
 *
 * <p>Thread-safe. Threads that allocate should end with the proxy, since Netty keeps an arena reachable from each: the event loops and the
 * store's threads do, and {@link ProxyServer} opens and closes the store on threads of its own.
 */
final class BufferPool extends AbstractByteBufAllocator implements ByteBufAllocatorMetricProvider {
    private volatile @Nullable PooledByteBufAllocator pool;

    BufferPool(int arenas) {
        super(true);
        pool = new PooledByteBufAllocator(
                true,
                0,
                arenas,
                PooledByteBufAllocator.defaultPageSize(),
                PooledByteBufAllocator.defaultMaxOrder(),
                PooledByteBufAllocator.defaultSmallCacheSize(),
                PooledByteBufAllocator.defaultNormalCacheSize(),
                false);
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        PooledByteBufAllocator current = pool;
        return current == null
                ? UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity)
                : current.directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return pool != null;
    }

    @Override
    public ByteBufAllocatorMetric metric() {
        PooledByteBufAllocator current = pool;
        return current == null ? UnpooledByteBufAllocator.DEFAULT.metric() : current.metric();
    }

    /** Bytes of the chunks that buffers have now, those that threads keep for their next ones not counted. Locks every arena. */
    long pinnedBytes() {
        PooledByteBufAllocator current = pool;
        return current == null ? 0 : current.pinnedDirectMemory();
    }

    /** The pool itself; null once it is closed. */
    @Nullable
    PooledByteBufAllocator pool() {
        return pool;
    }

    /** Lets go of the pool. */
    void close() {
        pool = null;
    }
}
