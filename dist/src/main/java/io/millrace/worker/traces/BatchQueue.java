package io.millrace.worker.traces;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The queue of batches from the thread that fills them to the thread that sends them. Keeps one sent batch for reuse.
 * Thread-safe.
 */
final class BatchQueue {
    private final int batchesMax;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<OtlpBatch> batches = new ArrayDeque<>();
    private @Nullable OtlpBatch spare;
    private boolean isClosed;

    BatchQueue(int batchesMax) {
        this.batchesMax = batchesMax;
    }

    /** Adds a batch, which then belongs to the queue. Returns false if the queue is full. */
    boolean add(OtlpBatch batch) {
        lock.lock();
        try {
            if (batches.size() >= batchesMax) {
                return false;
            }
            batches.add(batch);
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    boolean isEmpty() {
        lock.lock();
        try {
            return batches.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a batch and removes it. Returns null if the queue is closed and empty. */
    @Nullable
    OtlpBatch take() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (batches.isEmpty() && !isClosed) {
                changed.await();
            }
            return batches.poll();
        } finally {
            lock.unlock();
        }
    }

    /** Takes back a batch that was sent. */
    void reuse(OtlpBatch batch) {
        batch.clear();
        lock.lock();
        try {
            spare = batch;
        } finally {
            lock.unlock();
        }
    }

    /** Returns an empty batch that was sent before; null if there is none. */
    @Nullable
    OtlpBatch spare() {
        lock.lock();
        try {
            OtlpBatch found = spare;
            spare = null;
            return found;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the time is over or the queue is closed. Returns true if it is closed. */
    boolean awaitClose(long nanos) throws InterruptedException {
        long endNanos = System.nanoTime() + nanos;
        lock.lockInterruptibly();
        try {
            long remainingNanos = nanos;
            while (!isClosed && remainingNanos > 0) {
                changed.await(remainingNanos, TimeUnit.NANOSECONDS);
                remainingNanos = endNanos - System.nanoTime();
            }
            return isClosed;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the queue: {@link #take} returns the batches that are left, and then null. */
    void close() {
        lock.lock();
        try {
            isClosed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of spans in the queue. */
    int spans() {
        lock.lock();
        try {
            int sum = 0;
            for (OtlpBatch batch : batches) {
                sum += batch.spans();
            }
            return sum;
        } finally {
            lock.unlock();
        }
    }
}
