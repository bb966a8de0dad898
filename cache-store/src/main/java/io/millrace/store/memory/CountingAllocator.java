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
    private final ByteBufAllocator source;
    private final MemoryBudget budget;
    private final Part part;

    /** Buffers come from {@code source}. */
    public CountingAllocator(ByteBufAllocator source, MemoryBudget budget, Part part) {
        super(true);
        this.source = source;
        this.budget = budget;
        this.part = part;
    }

    MemoryBudget budget() {
        return budget;
    }

    /** A buffer of that capacity, the caller's; null, and counted as a no, when the budget has none. */
    public @Nullable ByteBuf tryDirectBuffer(int capacity) {
        long reserved = sizeClass(capacity);
        if (!budget.reserve(part, reserved)) {
            budget.refused(part);
            return null;
        }
        ByteBuf inner = null;
        try {
            inner = source.directBuffer(capacity);
        } finally {
            if (inner == null) {
                budget.release(part, reserved);
            }
        }
        return new CountedBuffer(inner, this, part, reserved);
    }

    /** What a pool sets aside for that many bytes: there are four sizes to each power of two. */
    private static long sizeClass(int bytes) {
        long step = Math.max(16, Long.highestOneBit(Math.max(1, bytes - 1)) / 4);
        return (bytes + step - 1) / step * step;
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        return new CountedBuffer(source.directBuffer(initialCapacity, maxCapacity), this, part, 0);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return source.isDirectBufferPooled();
    }
}
