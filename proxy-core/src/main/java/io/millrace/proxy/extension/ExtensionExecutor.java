package io.millrace.proxy.extension;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Delayed;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The executor of one extension, which runs its tasks on threads that all extensions share. The extension cannot shut
 * down these threads. Its tasks are cancelled when the extension is closed, and their number is limited.
 *
 * <p>Thread-safe.
 */
final class ExtensionExecutor extends AbstractExecutorService implements ScheduledExecutorService {
    /** Limit of tasks and timers of an extension that wait or run. */
    static final int TASKS_MAX = 10_000;

    private final String name;
    private final ScheduledExecutorService threads;
    private final Consumer<Throwable> failures;
    private final Set<Task<?>> tasks = ConcurrentHashMap.newKeySet();
    private volatile boolean ended;

    /**
     * @param threads shared by all extensions
     * @param failures receives the exceptions of tasks whose result no caller reads
     */
    ExtensionExecutor(String name, ScheduledExecutorService threads, Consumer<Throwable> failures) {
        this.name = name;
        this.threads = threads;
        this.failures = failures;
    }

    /** A task or timer, until it ends. */
    private final class Task<V> extends FutureTask<V> implements ScheduledFuture<V> {
        private final boolean repeats;
        private final boolean isReported;
        private volatile boolean hasBegun;
        private volatile @Nullable Future<?> delegate;

        Task(Callable<V> work, boolean repeats, boolean isReported) {
            super(work);
            this.repeats = repeats;
            this.isReported = isReported;
        }

        /** Cancels the task unless it is running. Cancels a periodic timer even while it is running. */
        void end() {
            if (repeats || !hasBegun) {
                cancel(false);
            }
        }

        @Override
        public void run() {
            hasBegun = true;
            if (repeats) {
                runAndReset();
            } else {
                super.run();
            }
        }

        @Override
        protected void setException(Throwable fault) {
            super.setException(fault);
            if (isReported) {
                failures.accept(fault);
            }
        }

        @Override
        protected void done() {
            tasks.remove(this);
            cancelDelegate();
        }

        /** Sets the entry in the queue of the shared threads. */
        void delegate(Future<?> entry) {
            delegate = entry;
            if (isDone()) {
                cancelDelegate();
            }
        }

        private void cancelDelegate() {
            Future<?> entry = delegate;
            if (entry != null) {
                entry.cancel(false);
            }
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return delegate instanceof Delayed delayed ? delayed.getDelay(unit) : 0;
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }

    private <V> Task<V> begin(Task<V> task) {
        if (tasks.size() >= TASKS_MAX) {
            throw new RejectedExecutionException("extension " + name + " may have at most " + TASKS_MAX + " tasks");
        }
        tasks.add(task);
        if (ended) {
            task.cancel(false);
            throw new RejectedExecutionException("extension " + name + " is closed");
        }
        return task;
    }

    /** Passes a task to the shared threads. Removes the task again if they reject it. */
    private <V> Task<V> start(Task<V> task, Callable<? extends Future<?>> submission) {
        begin(task);
        try {
            task.delegate(submission.call());
            return task;
        } catch (RuntimeException e) {
            task.cancel(false);
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("unexpected", e);
        }
    }

    private static Callable<@Nullable Void> call(Runnable work) {
        Objects.requireNonNull(work);
        return () -> {
            work.run();
            return null;
        };
    }

    @Override
    public void execute(Runnable work) {
        Task<@Nullable Void> task = new Task<>(call(work), false, true);
        start(task, () -> {
            threads.execute(task);
            return task;
        });
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
        Task<@Nullable Void> task = new Task<>(call(work), false, true);
        return start(task, () -> threads.schedule(task, delay, unit));
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> work, long delay, TimeUnit unit) {
        Task<V> task = new Task<>(work, false, false);
        return start(task, () -> threads.schedule(task, delay, unit));
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable work, long first, long period, TimeUnit unit) {
        Task<@Nullable Void> task = new Task<>(call(work), true, true);
        return start(task, () -> threads.scheduleAtFixedRate(task, first, period, unit));
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable work, long first, long delay, TimeUnit unit) {
        Task<@Nullable Void> task = new Task<>(call(work), true, true);
        return start(task, () -> threads.scheduleWithFixedDelay(task, first, delay, unit));
    }

    /** Cancels all waiting tasks, and refuses new ones. Does not interrupt running tasks. */
    void end() {
        ended = true;
        tasks.forEach(Task::end);
    }

    /** Refused: the threads belong to the proxy. */
    @Override
    public void shutdown() {
        throw new UnsupportedOperationException("the proxy ends the executor of an extension");
    }

    /** Refused: the threads belong to the proxy. */
    @Override
    public List<Runnable> shutdownNow() {
        throw new UnsupportedOperationException("the proxy ends the executor of an extension");
    }

    @Override
    public boolean isShutdown() {
        return ended;
    }

    @Override
    public boolean isTerminated() {
        return ended && tasks.isEmpty();
    }

    /**
     * Refused: the executor ends only after the extension was closed, so an extension that waits in {@code close} would
     * wait for itself.
     */
    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        throw new UnsupportedOperationException("the proxy ends the executor of an extension");
    }
}
