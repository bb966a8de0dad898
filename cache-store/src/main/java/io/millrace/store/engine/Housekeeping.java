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
 * One thread for short work that is nobody's: the RAM tier's policy, timers. Nothing that waits for a disk.
 *
 * <p>Thread-safe.
 */
final class Housekeeping implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);

    /** What is to run soon waits so long for more of its kind: the RAM tier's policy then hears of many entries at a time. */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Its tasks wait for nothing. */
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
     * Runs the task within some milliseconds, and as {@link #executeHere} when the caller is this thread; after the end it runs at
     * once, on the caller's thread.
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
     * Runs the task at once on the caller's thread; within some milliseconds if that is inside of such a task: the RAM tier's policy
     * asks for the next turn in its turn when there is more to do, for as long as others put in.
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

    /** Runs the task now and then, also after it failed. */
    void every(long intervalNanos, Runnable task) {
        Runnable guarded = () -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                // The executor would never run it again, and say nothing.
                LOG.error(
                        "{}: a task failed, and is tried again",
                        Thread.currentThread().getName(),
                        e);
            }
        };
        var unused = executor.scheduleWithFixedDelay(guarded, intervalNanos, intervalNanos, TimeUnit.NANOSECONDS);
    }

    /** Runs the task once; false when it will never run. */
    boolean after(long delayNanos, Runnable task) {
        try {
            var unused = executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /**
     * What has not begun never runs; what runs has ended when this returns, so that nothing changes afterwards. Not from a task, which would
     * wait for itself: then at once.
     */
    void close() {
        executor.shutdown();
        if (Thread.currentThread() == own) {
            return;
        }
        try {
            if (!executor.awaitTermination(CLOSE_WAIT_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a task of the store's housekeeping still runs after {} s", CLOSE_WAIT_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
