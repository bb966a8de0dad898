package io.millrace.store.engine;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor with one thread for short background work: RAM eviction policy and timers.
 *
 * <p>Its tasks must not wait for a disk.
 *
 * <p>Thread-safe.
 */
final class Housekeeping implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);

    /**
     * Delay of tasks passed to {@link #execute}. Entries accumulate during the delay, so that one task of the RAM
     * tier's policy processes many of them.
     */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /**
     * Maximum time for which {@link #close} waits for the running task. Tasks never block, so the wait is usually
     * short.
     */
    private static final long CLOSE_WAIT_SECONDS = 5;

    private final ThreadFactory threads = new DefaultThreadFactory("millrace-store-housekeeping", true);
    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, this::thread);
    /** The executor's thread; null until it is created. */
    private volatile @Nullable Thread own;
    /** Set in a thread while {@link #executeHere} runs a task there. */
    private final FastThreadLocal<Boolean> inside = new FastThreadLocal<>();

    Housekeeping() {
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setRemoveOnCancelPolicy(true);
    }

    private Thread thread(Runnable work) {
        Thread thread = threads.newThread(work);
        own = thread;
        return thread;
    }

    /**
     * Runs the task on the housekeeping thread within a few milliseconds. A call on that thread acts like {@link
     * #executeHere}. After {@link #close} the caller's thread runs the task immediately.
     */
    @Override
    public void execute(Runnable task) {
        if (Thread.currentThread() == own) {
            executeHere(task);
        } else {
            executeSoon(task);
        }
    }

    /**
     * Runs the task immediately on the caller's thread. If the caller is itself a task of this method, the new task
     * runs on the housekeeping thread within a few milliseconds. This prevents recursion: the RAM tier's policy submits
     * its next task from the current one while it has more entries to process.
     */
    void executeHere(Runnable task) {
        if (inside.isSet()) {
            executeSoon(task);
            return;
        }
        inside.set(true);
        try {
            task.run();
        } finally {
            inside.remove();
        }
    }

    private void executeSoon(Runnable task) {
        try {
            var unused = executor.schedule(task, SOON_NANOS, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            task.run();
        }
    }

    /** Runs the task periodically, first after one interval. A failed task is repeated too. */
    void every(long intervalNanos, Runnable task) {
        Runnable guarded = () -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                // Without this catch the executor would cancel the task silently.
                LOG.error(
                        "{}: a housekeeping task failed and will be repeated",
                        Thread.currentThread().getName(),
                        e);
            }
        };
        var unused = executor.scheduleWithFixedDelay(guarded, intervalNanos, intervalNanos, TimeUnit.NANOSECONDS);
    }

    /** Runs the task once; returns false if the task will never run. */
    boolean after(long delayNanos, Runnable task) {
        try {
            var unused = executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /**
     * Cancels tasks that have not begun, and waits for the running one. No task changes any state afterwards. A call
     * from a task returns without waiting.
     */
    void close() {
        executor.shutdown();
        if (Thread.currentThread() == own) {
            return;
        }
        try {
            if (!executor.awaitTermination(CLOSE_WAIT_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn(
                        "a housekeeping task of the store did not end within {} s; closing the store anyway",
                        CLOSE_WAIT_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
