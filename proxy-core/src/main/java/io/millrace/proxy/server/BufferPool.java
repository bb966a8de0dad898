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
 * The memory pool of one proxy: one arena for each event loop, apart from Netty's shared one, so that a closed proxy gives all of it
 * back. After {@link #close} the pool is unreachable, whoever still holds the proxy; what is allocated then is not pooled.
 *
 * <p>Thread-safe. Threads that allocate should end with the proxy, since Netty keeps an arena reachable from each: the event loops and the
 * store's threads do, and {@code ProxyServer} opens and closes the store on threads of its own.
 */
public final class BufferPool extends AbstractByteBufAllocator implements ByteBufAllocatorMetricProvider {
    /** One of the pool's chunks: what a failed allocation needs to succeed. */
    private static final int RESERVE_PIECE_BYTES = 4 << 20;

    private static final int RESERVE_PIECES = 4;

    /** Direct memory that is given back to the JVM when it has none left. */
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

    /** Tries again with one piece of the reserve after the other. */
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

    /** Takes back what the reserve gave, as far as there is memory. */
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

    /** Called on the allocating thread when the JVM has no direct memory for a buffer. */
    void onFailure(Runnable told) {
        onFailure = told;
    }

    /** Direct memory that is set aside for that case. */
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

    /** Bytes of the chunks that buffers have now, those that threads keep for their next ones not counted. Locks every arena. */
    long pinnedBytes() {
        PooledByteBufAllocator current = pool;
        return current == null ? 0 : current.pinnedDirectMemory();
    }

    /** The pool itself; null once it is closed. */
    public @Nullable PooledByteBufAllocator pool() {
        return pool;
    }

    /** Lets go of the pool. */
    public void close() {
        pool = null;
        ByteBuf piece;
        while ((piece = reserve.poll()) != null) {
            piece.release();
        }
    }
}
