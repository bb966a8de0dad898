package io.millrace.store.engine.object;

import io.millrace.store.memory.MemoryBudget;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that read from disk, with one bounded queue; before it those wait, a limited number, for whose content
 * there is no memory yet.
 *
 * <p>Thread-safe.
 */
public final class ReadPool {
    private static final int QUEUE_TASKS_MAX = 8192;
    private static final int WAITING_MAX = 1024;
    private static final long CLOSE_WAIT_SECONDS = 30;

    private final ThreadPoolExecutor executor;
    private final StoreCounters counters;
    private final MemoryBudget budget;
    private final ArrayBlockingQueue<Read> waiting = new ArrayBlockingQueue<>(WAITING_MAX);

    /** Calls of {@link #resume} since one of them set to work; that one looks again for the others. */
    private final AtomicInteger resuming = new AtomicInteger();

    /** A read that allocates this many bytes. */
    private record Read(int bytes, Runnable task, Runnable refused) {}

    /** Starts the threads. Reads allocate within the budget. */
    public ReadPool(int threads, StoreCounters counters, MemoryBudget budget) {
        this.counters = counters;
        this.budget = budget;
        executor = new ThreadPoolExecutor(
                threads, threads, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(QUEUE_TASKS_MAX), new ReadThreads());
        budget.onRoom(this::resumeSoon);
    }

    private static final class ReadThreads extends DefaultThreadFactory {
        ReadThreads() {
            super("millrace-store-read", true);
        }

        @Override
        protected Thread newThread(Runnable run, String name) {
            return new ReadThread(threadGroup, run, name);
        }
    }

    private static final class ReadThread extends FastThreadLocalThread {
        ReadThread(ThreadGroup group, Runnable run, String name) {
            super(group, run, name);
        }
    }

    /** Whether the caller is a thread that may block on a disk. */
    public static boolean isReadThread() {
        return Thread.currentThread() instanceof ReadThread;
    }

    /** Not at once: whoever gives memory back may hold what reserving some waits for. */
    private void resumeSoon() {
        if (!execute(this::resume)) {
            budget.awaitRoom();
        }
    }

    /** Queues a task; false, and it will not run, when the queue is full or the pool closed. */
    public boolean execute(Runnable task) {
        try {
            executor.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /**
     * As {@link #execute}, for a task that allocates about this many bytes; it waits for its turn and for memory. What it
     * allocates is counted when it runs, and until then set aside.
     *
     * @param refused runs instead of the task, on any thread, when there is no place to wait
     */
    public void read(int bytes, Runnable task, Runnable refused) {
        Read read = new Read(bytes, task, refused);
        if (waiting.isEmpty() && budget.reserve(MemoryBudget.Part.READING, bytes)) {
            start(read);
            return;
        }
        budget.refused(MemoryBudget.Part.READING);
        if (executor.isShutdown() || !waiting.offer(read)) {
            refused.run();
            return;
        }
        resume();
        if (executor.isShutdown()) {
            refuseWaiting();
        }
    }

    private void start(Read read) {
        boolean taken = execute(() -> {
            try {
                read.task().run();
            } finally {
                budget.release(MemoryBudget.Part.READING, read.bytes());
            }
        });
        if (!taken) {
            budget.release(MemoryBudget.Part.READING, read.bytes());
            read.refused().run();
        }
    }

    /** Starts those that wait, as far as there is memory. Who starts one that is refused makes room, and comes here again. */
    private void resume() {
        int seen = resuming.incrementAndGet();
        if (seen > 1) {
            return;
        }
        do {
            startWaiting();
            seen = resuming.addAndGet(-seen);
        } while (seen > 0);
    }

    private void startWaiting() {
        for (Read next = waiting.peek(); next != null; next = waiting.peek()) {
            // Announced before the look, so that no release in between is missed.
            budget.awaitRoom();
            if (!budget.reserve(MemoryBudget.Part.READING, next.bytes())) {
                return;
            }
            if (waiting.remove(next)) {
                start(next);
            } else {
                budget.release(MemoryBudget.Part.READING, next.bytes());
            }
        }
    }

    private void refuseWaiting() {
        for (Read left = waiting.poll(); left != null; left = waiting.poll()) {
            left.refused().run();
        }
    }

    /** Whether nobody waits for a thread. */
    public boolean isIdle() {
        return executor.getQueue().isEmpty() && waiting.isEmpty();
    }

    /** A writer may not claim more of a body. */
    public void claimRefused() {
        counters.claimsRefused.increment();
    }

    /** A reader may not wait for a range. */
    public void rangeRefused() {
        counters.rangesRefused.increment();
    }

    /** A record did not pass its checks. */
    public void damaged() {
        counters.recordsDamaged.increment();
    }

    /** Runs what is queued and ends the threads. Never interrupts one: that would close the files under it. */
    public void close() throws IOException {
        executor.shutdown();
        refuseWaiting();
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
