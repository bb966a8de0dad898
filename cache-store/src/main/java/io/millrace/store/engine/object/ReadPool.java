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
 * The threads that read from disk, with one bounded queue. A limited number of further reads waits for memory before
 * they enter the queue.
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

    /**
     * Number of concurrent {@link #resume} calls. The first one does the work, and repeats it for the calls that
     * arrived meanwhile.
     */
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

    /** Returns true if the calling thread is a thread of a read pool, which may block on a disk. */
    public static boolean isReadThread() {
        return Thread.currentThread() instanceof ReadThread;
    }

    /**
     * Runs {@link #resume} on another thread, because a thread that releases memory may hold a lock that a reservation
     * needs.
     */
    private void resumeSoon() {
        if (!execute(this::resume)) {
            budget.awaitRoom();
        }
    }

    /** Queues a task. Returns false if the queue is full or the pool is closed; the task then never runs. */
    public boolean execute(Runnable task) {
        try {
            executor.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /**
     * Like {@link #execute}, for a task that allocates about this many bytes. The task waits for memory. The bytes stay
     * reserved until the task has ended.
     *
     * @param refused runs instead of the task, on any thread, if the limit of waiting reads is reached, the queue is
     *     full, or the pool is closed
     */
    public void read(int bytes, Runnable task, Runnable refused) {
        Read read = new Read(bytes, task, refused);
        if (waiting.isEmpty() && budget.reserve(MemoryBudget.Part.READING, bytes)) {
            start(read);
            return;
        }
        budget.countRefusal(MemoryBudget.Part.READING);
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

    /**
     * Starts waiting reads while memory is available. A refused read releases its memory, and the release calls this
     * method again.
     */
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
            // The callback is requested before the reservation is tried. Otherwise a release of memory between the two
            // steps would be missed.
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
        for (Read read = waiting.poll(); read != null; read = waiting.poll()) {
            read.refused().run();
        }
    }

    /** Returns true if no task waits for a thread and no read waits for memory. */
    public boolean isIdle() {
        return executor.getQueue().isEmpty() && waiting.isEmpty();
    }

    /** Counts a refused claim (the promise of a writer to fill a block): the body had too many claims. */
    public void claimRefused() {
        counters.claimsRefused.increment();
    }

    /** Counts a wait for a byte range that was refused because a body had too many waiting readers. */
    public void rangeRefused() {
        counters.rangesRefused.increment();
    }

    /** Counts a damaged record: its checks failed when it was read. */
    public void damaged() {
        counters.recordsDamaged.increment();
    }

    /**
     * Runs queued tasks and ends the threads. Never interrupts a thread, because an interrupt would close the files it
     * uses.
     */
    public void close() throws IOException {
        executor.shutdown();
        refuseWaiting();
        try {
            if (!executor.awaitTermination(CLOSE_WAIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("disk reads still running after " + CLOSE_WAIT_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for the end of disk reads", e);
        }
    }
}
