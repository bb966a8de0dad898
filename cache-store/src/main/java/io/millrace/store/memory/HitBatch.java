package io.millrace.store.memory;

import io.netty.util.concurrent.FastThreadLocal;

/**
 * The hits of one thread that were not passed to the eviction policy yet.
 *
 * <p>Confined to its thread.
 */
final class HitBatch {
    RamEntry[] entries;
    int size;

    private HitBatch(int capacity) {
        entries = new RamEntry[capacity];
    }

    /** Returns the variable that holds the batch of each thread. */
    static FastThreadLocal<HitBatch> ofEachThread(int capacity) {
        return new ThreadBatch(capacity);
    }

    /**
     * Threads keep this object permanently. It has no reference to the tier, so that an unused tier and its executor
     * can be garbage collected.
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
