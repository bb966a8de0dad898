package io.millrace.store.memory;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;

/**
 * The use and the current limit of a RAM tier in bytes. The limit is below its maximum while other parts of the budget
 * need memory, or while entries reach their limit of heap. The budget calls this class to make the tier smaller.
 *
 * <p>Thread-safe.
 */
final class TierLimit implements MemoryBudget.MemoryConsumer {
    /**
     * Divisor of the heap limit: the result is freed when entries reach the limit, so that evictions for heap are rare.
     */
    private static final int HEAP_FREE_DIVISOR = 32;
    /**
     * Divisor like {@link #HEAP_FREE_DIVISOR}, for the case that the inserting thread must evict because housekeeping
     * was too late. The thread evicts only a small part; housekeeping continues.
     */
    private static final int HEAP_FREE_DIVISOR_AT_ONCE = 1024;

    /**
     * Divisor of the current limit: usage may exceed the limit by the result, rounded down to
     * {@link #OVERDRAFT_UNIT_BYTES}. Above that, the inserting thread evicts; below, housekeeping does.
     */
    private static final int OVERDRAFT_DIVISOR = 1024;

    private static final long OVERDRAFT_UNIT_BYTES = 64 * 1024;

    private final long bytesMax;
    private final MemoryBudget budget;
    private final EpochReclamation reclamation;
    private final LongConsumer onLimit;

    private final AtomicLong bytes = new AtomicLong();
    /** The heap part of {@link #bytes}. */
    private final AtomicLong heapBytes = new AtomicLong();

    /** True once usage has reached half of the limit. */
    private volatile boolean halfFull;

    private final ReentrantLock lock = new ReentrantLock();
    /** The budget minus the bytes of the other parts. Written under {@link #lock}. */
    private volatile long bytesLimit;

    /**
     * Creates the limit of an empty tier.
     *
     * @param bytesMax the first limit, and its maximum
     * @param onLimit receives each new limit, while the lock is held; evicts until the entries fit
     */
    TierLimit(long bytesMax, MemoryBudget budget, EpochReclamation reclamation, LongConsumer onLimit) {
        this.bytesMax = bytesMax;
        this.bytesLimit = bytesMax;
        this.budget = budget;
        this.reclamation = reclamation;
        this.onLimit = onLimit;
    }

    /** Counts a new entry. */
    void add(long bodyBytes, int heap) {
        bytes.addAndGet(bodyBytes + heap);
        heapBytes.addAndGet(heap);
        budget.countAdded(bodyBytes + heap);
        budget.add(MemoryBudget.Part.ENTRIES, heap);
    }

    /** Counts more heap bytes of an entry. */
    void addHeap(int heap) {
        bytes.addAndGet(heap);
        heapBytes.addAndGet(heap);
        budget.add(MemoryBudget.Part.ENTRIES, heap);
    }

    /** Subtracts the bytes of an entry that was unlinked. */
    void subtract(long bodyBytes, int heap) {
        bytes.addAndGet(-(bodyBytes + heap));
        heapBytes.addAndGet(-heap);
        budget.release(MemoryBudget.Part.ENTRIES, heap);
    }

    /** Returns the bytes in use. */
    long bytes() {
        return bytes.get();
    }

    /** Returns the current limit in bytes. */
    long bytesLimit() {
        return bytesLimit;
    }

    /** Returns true if usage is so far above the limit that the inserting thread must evict. */
    boolean isOverdrawn() {
        long limit = bytesLimit;
        return bytes.get() > limit + limit / OVERDRAFT_DIVISOR / OVERDRAFT_UNIT_BYTES * OVERDRAFT_UNIT_BYTES;
    }

    /** Returns true once usage has reached half of the limit. */
    boolean isHalfFull() {
        if (!halfFull) {
            halfFull = bytes.get() >= bytesLimit / 2;
        }
        return halfFull;
    }

    @Override
    public boolean releaseBytes(long missing) {
        lock.lock();
        try {
            long smaller = Math.max(0, Math.min(bytesLimit, bytes.get()) - missing);
            if (smaller >= bytesLimit) {
                return false;
            }
            limit(smaller);
            return true;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long freeUnused() {
        reclamation.releaseUnread();
        return reclamation.waitingBytes();
    }

    @Override
    public void evictOverHeapLimit() {
        lock.lock();
        try {
            // Another thread may have evicted in the meantime.
            if (budget.bytes(MemoryBudget.Part.ENTRIES) > budget.entryBytesMax()) {
                limit(Math.min(bytesLimit, bytesThatHeapAllows(HEAP_FREE_DIVISOR_AT_ONCE)));
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the size of the tier, in bytes, at which its heap usage reaches its limit. A part of the heap limit, the
     * limit divided by {@code freeDivisor}, stays free. The calculation assumes the current ratio of heap bytes to all
     * bytes. While entries use less than half of the heap limit, the ratio is not reliable, and the method returns
     * {@link Long#MAX_VALUE}.
     */
    private long bytesThatHeapAllows(int freeDivisor) {
        long heap = heapBytes.get();
        long heapMax = budget.entryBytesMax() - (budget.bytes(MemoryBudget.Part.ENTRIES) - heap);
        if (heap <= budget.entryBytesMax() / 2) {
            return Long.MAX_VALUE;
        }
        double share = (double) Math.max(0, heapMax - budget.entryBytesMax() / freeDivisor) / heap;
        return (long) (bytes.get() * share);
    }

    /** Sets the limit to the bytes that other parts of the budget leave. Called periodically. */
    void resize() {
        lock.lock();
        try {
            budget.countIdle();
            // Unlinked entries that are still being read do not count as bytes of other parts. Otherwise each call
            // during a long read would evict more.
            long others = budget.totalBytes() - bytes.get() - reclamation.waitingBytes();
            long fits =
                    Math.max(0, Math.min(bytesMax, budget.bytesMaxNow() - budget.freeBytes() - Math.max(0, others)));
            fits = Math.min(fits, bytesThatHeapAllows(HEAP_FREE_DIVISOR));
            if (Math.abs(fits - bytesLimit) > budget.freeBytes() / 8 || fits == bytesMax) {
                limit(fits);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Restores the maximum limit after the tier was made smaller. */
    void restore() {
        lock.lock();
        try {
            limit(bytesMax);
        } finally {
            lock.unlock();
        }
    }

    private void limit(long limit) {
        if (limit != bytesLimit) {
            bytesLimit = limit;
            onLimit.accept(limit);
        }
    }
}
