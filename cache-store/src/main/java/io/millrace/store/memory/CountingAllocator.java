package io.millrace.store.memory;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Allocates direct buffers that the budget counts for one part. Only {@link #tryDirectBuffer} may say no: for those who
 * are free to do without.
 *
 * <p>Thread-safe.
 */
public final class CountingAllocator extends AbstractByteBufAllocator {
    private final BodyPool pool;
    private final MemoryBudget budget;
    private final Part part;

    /** Buffers come from {@code pool}. */
    public CountingAllocator(BodyPool pool, MemoryBudget budget, Part part) {
        super(true);
        this.pool = pool;
        this.budget = budget;
        this.part = part;
    }

    BodyPool pool() {
        return pool;
    }

    MemoryBudget budget() {
        return budget;
    }

    /** What its buffers are for. */
    Part part() {
        return part;
    }

    /** A buffer of that capacity, the caller's; null, and counted as a no, when the budget has none. */
    public @Nullable ByteBuf tryDirectBuffer(int capacity) {
        long reserved = pool.bytesFor(capacity);
        if (!budget.reserve(part, reserved)) {
            budget.refused(part);
            return null;
        }
        ByteBuf buffer = null;
        try {
            buffer = new CountedBuffer(capacity, Integer.MAX_VALUE, this, reserved);
        } finally {
            if (buffer == null) {
                budget.release(part, reserved);
            }
        }
        return buffer;
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        return new CountedBuffer(initialCapacity, maxCapacity, this, 0);
    }

    @Override
    public boolean isDirectBufferPooled() {
        ByteBufAllocator given = pool.given();
        return given == null || given.isDirectBufferPooled();
    }
}
