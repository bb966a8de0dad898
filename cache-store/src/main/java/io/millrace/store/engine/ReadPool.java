package io.millrace.store.engine;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that read from disk, with one bounded queue.
 *
 * <p>Thread-safe.
 */
final class ReadPool {
    private static final int QUEUE_TASKS_MAX = 8192;
    private static final long CLOSE_WAIT_SECONDS = 30;

    private final ThreadPoolExecutor executor;
    private final StoreCounters counters;

    ReadPool(int threads, StoreCounters counters) {
        this.counters = counters;
        executor = new ThreadPoolExecutor(
                threads,
                threads,
                0,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(QUEUE_TASKS_MAX),
                new DefaultThreadFactory("millrace-store-read", true));
    }

    /** Queues a task; false, and it will not run, when the queue is full or the pool closed. */
    boolean execute(Runnable task) {
        try {
            executor.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** A record did not pass its checks. */
    void damaged() {
        counters.recordsDamaged.increment();
    }

    /** Runs what is queued and ends the threads. Never interrupts one: that would close the files under it. */
    void close() throws IOException {
        executor.shutdown();
        try {
            if (!executor.awaitTermination(CLOSE_WAIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("reads still running after " + CLOSE_WAIT_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for reads", e);
        }
    }
}
