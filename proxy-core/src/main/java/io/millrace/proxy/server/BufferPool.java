package io.millrace.proxy.server;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.internal.OutOfDirectMemoryError;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The buffer allocator of one proxy: a Netty pool with one arena per event loop. It is separate from Netty's
 * shared pool, so that a closed proxy releases all its memory. {@link #close} drops the pool, even if the proxy
 * object is still referenced. Later allocations are not pooled.
 *
 * <p>Thread-safe. Each thread that allocates keeps an arena reachable in Netty. Therefore such a thread should end with
 * the proxy, as the event loops and the threads of the store do. For the same reason, {@code ProxyServer} opens and
 * closes the store on temporary threads.
 */
public final class BufferPool extends AbstractByteBufAllocator implements ByteBufAllocatorMetricProvider {
    /** Size of a piece of the reserve in bytes: one chunk of the pool, which a failed allocation needs. */
    private static final int RESERVE_PIECE_BYTES = 4 << 20;

    private static final int RESERVE_PIECES = 4;

    /**
     * Reserved direct memory. It is released when the JVM has no direct memory left, so that an allocation can
     * succeed.
     */
    private final ConcurrentLinkedQueue<ByteBuf> reserve = new ConcurrentLinkedQueue<>();

    private final AtomicInteger reservePieces = new AtomicInteger();
    private volatile Runnable onFailure = () -> {};
    private volatile @Nullable PooledByteBufAllocator pool;

    public BufferPool(int arenas) {
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
        fillReserve();
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        PooledByteBufAllocator current = pool;
        if (current == null) {
            return UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
        }
        try {
            return current.directBuffer(initialCapacity, maxCapacity);
        } catch (OutOfDirectMemoryError e) {
            return fromReserve(current, initialCapacity, maxCapacity, e);
        }
    }

    /** Retries the allocation. Releases one piece of the reserve before each attempt. */
    private ByteBuf fromReserve(
            PooledByteBufAllocator from, int initialCapacity, int maxCapacity, OutOfDirectMemoryError failure) {
        onFailure.run();
        ByteBuf piece;
        while ((piece = reserve.poll()) != null) {
            reservePieces.decrementAndGet();
            piece.release();
            try {
                return from.directBuffer(initialCapacity, maxCapacity);
            } catch (OutOfDirectMemoryError again) {
                failure.addSuppressed(again);
            }
        }
        throw failure;
    }

    /** Allocates the missing pieces of the reserve, as far as memory permits. */
    void fillReserve() {
        while (reservePieces.get() < RESERVE_PIECES) {
            try {
                ByteBuf piece = UnpooledByteBufAllocator.DEFAULT.directBuffer(RESERVE_PIECE_BYTES, RESERVE_PIECE_BYTES);
                reservePieces.incrementAndGet();
                reserve.add(piece);
            } catch (OutOfDirectMemoryError e) {
                return;
            }
        }
    }

    /** Sets the callback for allocations that need the reserve. Called on the allocating thread. */
    void onFailure(Runnable listener) {
        onFailure = listener;
    }

    /** Size of the reserve in bytes. */
    long reserveBytes() {
        return (long) RESERVE_PIECES * RESERVE_PIECE_BYTES;
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

    /** Returns the bytes that buffers use, without free space in chunks and caches of threads. Locks every arena. */
    long pinnedBytes() {
        PooledByteBufAllocator current = pool;
        return current == null ? 0 : current.pinnedDirectMemory();
    }

    /** The Netty pool; null after {@link #close}. */
    public @Nullable PooledByteBufAllocator pool() {
        return pool;
    }

    /** Drops the pool and releases the reserve. */
    public void close() {
        pool = null;
        ByteBuf piece;
        while ((piece = reserve.poll()) != null) {
            piece.release();
        }
    }
}
