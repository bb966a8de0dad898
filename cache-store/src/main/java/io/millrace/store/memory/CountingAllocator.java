package io.millrace.store.memory;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * An allocator of direct buffers that are counted in one part of the memory budget. Only {@link #tryDirectBuffer} and
 * {@link #tryEntryBuffer} check the limits of the budget, for callers that can continue without a buffer. The other
 * methods always return a buffer.
 *
 * <p>Thread-safe.
 */
public final class CountingAllocator extends AbstractByteBufAllocator {
    private final BodyPool pool;
    private final MemoryBudget budget;
    private final Part part;

    /** Creates an allocator with memory from {@code pool}. */
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

    /** Returns the part of the budget that counts the buffers. */
    Part part() {
        return part;
    }

    /**
     * Returns a buffer of this capacity, which the caller must release. Returns null and counts a refusal if the budget
     * has no space.
     */
    public @Nullable ByteBuf tryDirectBuffer(int capacity) {
        return tryBuffer(capacity, 0);
    }

    /**
     * Like {@link #tryDirectBuffer}, for the body of an object that the RAM tier may keep without Java objects. The
     * capacity must have room for the body, the encoded head and the key.
     */
    public @Nullable ByteBuf tryEntryBuffer(int capacity) {
        return tryBuffer(capacity, pool.configured() == null ? CompactEntries.PREFIX_BYTES : 0);
    }

    private @Nullable ByteBuf tryBuffer(int capacity, int prefixBytes) {
        long reserved = pool.bytesFor(capacity + prefixBytes);
        if (!budget.reserve(part, reserved)) {
            budget.countRefusal(part);
            return null;
        }
        ByteBuf buffer = null;
        try {
            buffer = new CountedBuffer(capacity, Integer.MAX_VALUE, this, reserved, prefixBytes);
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
        return new CountedBuffer(initialCapacity, maxCapacity, this, 0, 0);
    }

    @Override
    public boolean isDirectBufferPooled() {
        ByteBufAllocator configured = pool.configured();
        return configured == null || configured.isDirectBufferPooled();
    }
}
