package io.millrace.store.memory;

import io.netty.util.concurrent.FastThreadLocal;

/**
 * A batch of hits of one thread that the eviction policy has not received yet.
 *
 * <p>Confined to its thread.
 */
final class HitBatch {
    RamEntry[] entries;
    int size;

    private HitBatch(int capacity) {
        entries = new RamEntry[capacity];
    }

    /** Returns a thread-local variable that holds the batch of each thread. */
    static FastThreadLocal<HitBatch> ofEachThread(int capacity) {
        return new ThreadBatch(capacity);
    }

    /**
     * The thread-local variable of batches. Threads keep this object for their whole life. It has no reference to the
     * RAM tier, so that an unused tier and its executor can be garbage collected.
     */
    private static final class ThreadBatch extends FastThreadLocal<HitBatch> {
        private final int capacity;

        ThreadBatch(int capacity) {
            this.capacity = capacity;
        }

        @Override
        protected HitBatch initialValue() {
            return new HitBatch(capacity);
        }
    }
}
