package io.millrace.store.disk;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.MpscBlockingConsumerArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that writes a volume, with its bounded queue. Between tasks it runs steps of background work, one step
 * at a time and in rotation. While tasks wait, each work pauses after a step for as long as the step took.
 *
 * <p>{@link Gathering} tasks add objects to a batch. The thread writes the batch when the next task is of another kind
 * or the queue is empty. So a single object is written without delay, and objects that are queued during a write share
 * the next write. After a gathering task the idle thread parks for up to 4 ms. Meanwhile gathering tasks do not
 * wake the thread, but any other task does. To wake a thread for each of many small objects would cost more than to
 * write them.
 *
 * <p>Tasks that must not be refused by a full queue may use a second, bounded queue. While the second queue is not
 * empty, the first queue accepts no tasks. So tasks run in the order in which they were accepted.
 *
 * <p>Thread-safe.
 */
final class VolumeThread {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeThread.class);
    /** Gathering tasks that arrive within this time are processed together. */
    private static final long BATCH_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

    private final MpscBlockingConsumerArrayQueue<Runnable> queue;
    private final ConcurrentLinkedQueue<Runnable> overflow = new ConcurrentLinkedQueue<>();
    /** Number of tasks in {@link #overflow}, including those that are being added. */
    private final AtomicInteger overflowing = new AtomicInteger();

    private final Thread thread;
    private final CountDownLatch ended = new CountDownLatch(1);
    /**
     * Number of threads inside {@link #execute} or {@link #executeBeyond}. The ending thread waits for them before it
     * polls the queue for the last time.
     */
    private final AtomicInteger submittingThreads = new AtomicInteger();

    private final Runnable writeBatch;
    private final long batchDelayNanos;
    /** The background works; the first one that is due runs next. Confined to the thread. */
    private final List<ScheduledWork> scheduledWorks = new ArrayList<>();

    /** True if the last task was a gathering task, after which the thread may park. Confined to the thread. */
    private boolean mayAwaitBatch;
    /**
     * True while the thread is parked and does not wait on the queue. A new task in the queue does not wake the parked
     * thread.
     */
    private volatile boolean awaitingBatch;

    private volatile boolean closed;
    /** The last task of the thread; null until {@link #stop} is called. */
    private volatile @Nullable Runnable last;

    /**
     * A task that may only add objects to the batch. The thread later calls {@code writeBatch}, which writes the batch.
     */
    interface Gathering extends Runnable {}

    /** Background work that runs in small steps between the tasks. */
    @FunctionalInterface
    interface BackgroundWork {
        /** Result of {@link #step} to continue immediately. */
        long AT_ONCE = 0;
        /** Result of {@link #step} if there is no work until a task has run. */
        long IDLE = Long.MAX_VALUE;

        /**
         * Performs a short step, usually a fraction of a millisecond, because tasks wait for it. Returns the
         * nanoseconds until the next step, including {@link #AT_ONCE} and {@link #IDLE}. Idle work is called again
         * after each task. The batch of gathered objects may still be unwritten when a step runs.
         */
        long step();
    }

    /** A background work and its due time. */
    private static final class ScheduledWork {
        final BackgroundWork work;
        boolean idle;
        long dueNanos = System.nanoTime();

        ScheduledWork(BackgroundWork work) {
            this.work = work;
        }
    }

    /**
     * Creates a thread that is not started.
     *
     * @param writeBatch writes the batch of {@link Gathering} tasks; called on the thread, also without a batch
     */
    VolumeThread(String name, int capacity, List<BackgroundWork> works, Runnable writeBatch) {
        this(name, capacity, works, writeBatch, BATCH_DELAY_NANOS);
    }

    VolumeThread(String name, int capacity, List<BackgroundWork> works, Runnable writeBatch, long batchDelayNanos) {
        this.writeBatch = writeBatch;
        this.batchDelayNanos = batchDelayNanos;
        this.queue = new MpscBlockingConsumerArrayQueue<>(capacity);
        for (BackgroundWork work : works) {
            scheduledWorks.add(new ScheduledWork(work));
        }
        this.thread = new FastThreadLocalThread(this::run, name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Queues a task; false if the queue is full or closed, and then it never runs. An accepted task always runs. */
    boolean execute(Runnable task) {
        submittingThreads.incrementAndGet();
        boolean taken = !closed && overflowing.get() == 0 && queue.offer(task);
        submittingThreads.decrementAndGet();
        if (!(task instanceof Gathering)) {
            endBatchDelay();
        }
        return taken;
    }

    /** Returns true while the thread waits for further tasks after a gathering task. */
    boolean isAwaitingBatch() {
        return awaitingBatch;
    }

    private void endBatchDelay() {
        if (awaitingBatch) {
            LockSupport.unpark(thread);
        }
    }

    /**
     * Like {@link #execute}, but accepts up to {@code beyond} tasks above the queue's capacity. Used for removals: they
     * must not be refused when the queue is full of objects to store.
     */
    boolean executeBeyond(Runnable task, int beyond) {
        submittingThreads.incrementAndGet();
        boolean taken = !closed && overflowing.get() == 0 && queue.offer(task);
        if (!taken && !closed) {
            taken = overflowing.incrementAndGet() <= beyond && overflow.add(task);
            if (!taken) {
                overflowing.decrementAndGet();
            }
            // The thread may be waiting on the empty queue by now, so an empty task wakes it. If the queue is full, the
            // thread is awake anyway.
            queue.offer(VolumeThread::wakeUp);
        }
        submittingThreads.decrementAndGet();
        endBatchDelay();
        return taken;
    }

    /** Returns true if the thread accepts no more tasks, or soon will not. */
    boolean isEnding() {
        return closed || last != null;
    }

    /**
     * Stops accepting tasks, runs the queued ones and then {@code end}, and waits until the thread has ended. Call
     * once.
     */
    void stop(Runnable end) throws InterruptedException {
        last = end;
        // If the queue is full, the thread is awake anyway.
        queue.offer(VolumeThread::wakeUp);
        endBatchDelay();
        ended.await();
    }

    private static void wakeUp() {
        // Empty task: it only wakes the thread, which then checks its state.
    }

    private void run() {
        try {
            while (last == null) {
                Runnable task = nextTask();
                if (task != null) {
                    runInOrder(task);
                    for (ScheduledWork scheduled : scheduledWorks) {
                        scheduled.idle = false;
                    }
                }
                if (last == null) {
                    runDueWork();
                }
            }
        } catch (InterruptedException e) {
            LOG.error("{}: the volume's thread was interrupted and writes no more data", thread.getName());
        } finally {
            finish();
        }
    }

    /** Returns the next task; null if background work is due first. */
    private @Nullable Runnable nextTask() throws InterruptedException {
        Runnable task = pollTask();
        if (task != null) {
            return task;
        }
        runOne(writeBatch);
        long now = System.nanoTime();
        long wait = BackgroundWork.IDLE;
        for (ScheduledWork scheduled : scheduledWorks) {
            wait = scheduled.idle ? wait : Math.min(wait, scheduled.dueNanos - now);
        }
        if (wait <= 0) {
            return null;
        }
        if (mayAwaitBatch) {
            awaitBatch(Math.min(wait, batchDelayNanos));
            return pollTask();
        }
        return wait == BackgroundWork.IDLE ? queue.take() : queue.poll(wait, TimeUnit.NANOSECONDS);
    }

    /** Parks, unless a task is queued. */
    private void awaitBatch(long nanos) {
        mayAwaitBatch = false;
        awaitingBatch = true;
        // Tasks offered before awaitingBatch was set have not woken the thread.
        if (queue.isEmpty() && overflow.isEmpty() && last == null) {
            LockSupport.parkNanos(this, nanos);
        }
        awaitingBatch = false;
    }

    private @Nullable Runnable pollTask() {
        Runnable task = queue.poll();
        if (task == null) {
            task = overflow.poll();
            if (task != null) {
                // Tasks that the queue accepts from now on run after this one.
                overflowing.decrementAndGet();
            }
        }
        return task;
    }

    private void runDueWork() {
        for (int i = 0; i < scheduledWorks.size(); i++) {
            ScheduledWork scheduled = scheduledWorks.get(i);
            long begin = System.nanoTime();
            if (!scheduled.idle && scheduled.dueNanos - begin <= 0) {
                // The work moves to the end of the list, so that the other works are next.
                scheduledWorks.remove(i);
                if (step(scheduled, begin)) {
                    scheduledWorks.add(scheduled);
                }
                return;
            }
        }
    }

    /** Runs a step; returns false if it failed, so that the work is not called again. */
    private boolean step(ScheduledWork scheduled, long begin) {
        try {
            long wanted = scheduled.work.step();
            long now = System.nanoTime();
            scheduled.idle = wanted == BackgroundWork.IDLE;
            long pause = queue.isEmpty() || scheduled.idle ? 0 : now - begin;
            scheduled.dueNanos = now + pause + (scheduled.idle ? 0 : wanted);
            return true;
        } catch (Throwable e) {
            LOG.error("{}: a background task failed and will not run again until the next start", thread.getName(), e);
            return false;
        }
    }

    private void finish() {
        closed = true;
        while (submittingThreads.get() > 0) {
            Thread.onSpinWait();
        }
        for (Runnable task = pollTask(); task != null; task = pollTask()) {
            runInOrder(task);
        }
        Runnable end = last;
        if (end != null) {
            runInOrder(end);
        }
        ended.countDown();
    }

    private void runInOrder(Runnable task) {
        mayAwaitBatch = task instanceof Gathering;
        if (!mayAwaitBatch) {
            runOne(writeBatch);
        }
        runOne(task);
    }

    private void runOne(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            // An exception in one task, including an unreadable mapped page, must not end the volume's thread.
            LOG.error("{}: a task of the volume failed", thread.getName(), e);
        }
    }
}
