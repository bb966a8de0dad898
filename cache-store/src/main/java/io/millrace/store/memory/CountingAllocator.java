package io.millrace.store.memory;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

/**
 * Allocates direct buffers that the budget counts for one part. It never refuses: who is free to do without asks the
 * budget before.
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

    /** Whether so many bytes may be allocated. */
    public boolean admits(long bytes) {
        return budget.admit(part, bytes);
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        return new CountedBuffer(source.directBuffer(initialCapacity, maxCapacity), this, part);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return source.isDirectBufferPooled();
    }
}
