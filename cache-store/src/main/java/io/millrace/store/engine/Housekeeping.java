package io.millrace.store.engine;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One thread for short work that is nobody's: the RAM tier's policy, timers. Nothing that waits for a disk.
 *
 * <p>Thread-safe.
 */
final class Housekeeping implements Executor {
    /** What is to run soon waits so long for more of its kind: the RAM tier's policy then hears of many entries at a time. */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ThreadFactory threads = new DefaultThreadFactory("millrace-store-housekeeping", true);
    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, this::thread);
    private volatile @Nullable Thread own;

    Housekeeping() {
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setRemoveOnCancelPolicy(true);
    }

    private Thread thread(Runnable work) {
        Thread thread = threads.newThread(work);
        own = thread;
        return thread;
    }

    /** Runs the task within some milliseconds, and at once when the caller is this thread; after the end it runs at once, on the caller's thread. */
    @Override
    public void execute(Runnable task) {
        if (Thread.currentThread() == own) {
            task.run();
            return;
        }
        try {
            var unused = executor.schedule(task, SOON_NANOS, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            task.run();
        }
    }

    void every(long intervalNanos, Runnable task) {
        var unused = executor.scheduleWithFixedDelay(task, intervalNanos, intervalNanos, TimeUnit.NANOSECONDS);
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

    void close() {
        executor.shutdown();
    }
}
