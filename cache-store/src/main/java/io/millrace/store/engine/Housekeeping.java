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
 * The thread for short background work of the store: the RAM tier's policy and timers. Its tasks must not wait for a
 * disk.
 *
 * <p>Thread-safe.
 */
final class Housekeeping implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);

    /** Delay of tasks to run soon, so that the RAM tier's policy processes many entries at a time. */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Timeout for running tasks at close; tasks never block. */
    private static final long CLOSE_WAIT_SECONDS = 5;

    private final ThreadFactory threads = new DefaultThreadFactory("millrace-store-housekeeping", true);
    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, this::thread);
    private volatile @Nullable Thread own;
    /** Set while a task runs on its caller's thread. */
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
     * Runs the task within a few milliseconds, or like {@link #executeHere} if called on this thread. After the close
     * it runs the task immediately on the caller's thread.
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
     * Runs the task immediately on the caller's thread. If the caller is itself such a task, the new task runs within a
     * few milliseconds. The RAM tier's policy submits its next task from the current one while entries remain to be
     * processed.
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

    /** Runs the task periodically, also after it failed. */
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
     * Cancels tasks that have not begun and waits for the running one, so that no task changes state afterwards.
     * Returns without waiting if called from a task.
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
