package io.millrace.store.engine;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * One thread for short work that is nobody's: the RAM tier's policy, timers. Nothing that waits for a disk.
 *
 * <p>Thread-safe.
 */
final class Housekeeping implements Executor {
    private final ScheduledThreadPoolExecutor executor =
            new ScheduledThreadPoolExecutor(1, new DefaultThreadFactory("millrace-store-housekeeping", true));

    Housekeeping() {
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setRemoveOnCancelPolicy(true);
    }

    /** Runs the task soon; after the end it runs at once, on the caller's thread. */
    @Override
    public void execute(Runnable task) {
        try {
            executor.execute(task);
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
