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
 * The memory pool of one proxy, with one arena per event loop. Separate from Netty's shared pool, so that a closed
 * proxy releases all of its memory. {@link #close} makes the pool unreachable, even if the proxy is still referenced;
 * later allocations are not pooled.
 *
 * <p>Thread-safe. Allocating threads should end with the proxy, since Netty keeps an arena reachable from each thread.
 * That holds for the event loops and the store's threads. {@code ProxyServer} opens and closes the store on separate
 * threads.
 */
public final class BufferPool extends AbstractByteBufAllocator implements ByteBufAllocatorMetricProvider {
    /** Size of a chunk of the pool: a failed allocation needs this much memory to succeed. */
    private static final int RESERVE_PIECE_BYTES = 4 << 20;

    private static final int RESERVE_PIECES = 4;

    /** Direct memory that is released to the JVM when it has no more. */
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

    /** Retries the allocation, after releasing one piece of the reserve for each attempt. */
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

    /** Sets the callback for allocations that fail for lack of direct memory. Called on the allocating thread. */
    void onFailure(Runnable listener) {
        onFailure = listener;
    }

    /** Size of the reserve for failed allocations, in bytes. */
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

    /** Bytes of the chunks in use by buffers, without the caches of threads. Locks every arena. */
    long pinnedBytes() {
        PooledByteBufAllocator current = pool;
        return current == null ? 0 : current.pinnedDirectMemory();
    }

    /** The pool itself; null after {@link #close}. */
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
