package io.millrace.proxy.purge.sweep;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.purge.record.RemovalTimes;
import io.millrace.store.CacheStore;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out purges by pattern in the background. Removes or marks covered responses, then retires the purges.
 * Uses one thread of the lowest priority, which exists only while there is work. Repeats an incomplete sweep after
 * a pause; its purges stay live, so that lookups still respect them. Sweeps a soft purge only when it cannot be
 * undone any more.
 *
 * <p>Thread-safe.
 */
public final class PatternSweeper implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PatternSweeper.class);
    private static final long THREAD_IDLE_SECONDS = 5;
    private static final long RETRY_MILLIS_MIN = 200;
    private static final long RETRY_MILLIS_MAX = 30_000;
    /** Interval of checks for purges that cannot be swept yet. */
    private static final long CHECK_MILLIS = 10_000;

    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final CacheStore<StoredHead> store;
    private final Invalidator invalidator;
    private final ScheduledThreadPoolExecutor executor;
    private final RemovalTimes times;
    private final LongAdder removed = new LongAdder();
    private final LongAdder marked = new LongAdder();
    private final LongAdder incomplete = new LongAdder();
    private final ReentrantLock lock = new ReentrantLock();
    /** The next scheduled run; null for none. This field and its time are guarded by the lock. */
    private @Nullable Future<?> next;

    private long nextNanos;

    /** Pause before an incomplete sweep is repeated, in ms. Confined to the sweeper thread. */
    private long retryMillis = RETRY_MILLIS_MIN;

    /**
     * Stamps (increasing numbers) of live purges for which no earlier writer is left, because a sweep has aborted
     * the earlier writers or the purge is from an earlier run. Confined to the sweeper thread, except in the
     * constructor.
     */
    private final Set<Long> writersAborted = new HashSet<>();

    /**
     * Creates the sweeper of a store that has no writers yet. {@link #start} begins its work. No writer is older than a
     * purge from an earlier run of the proxy, so sweeps for such a purge let all writers continue.
     */
    public PatternSweeper(CacheStore<StoredHead> store, Invalidator invalidator, RemovalTimes times) {
        this.times = times;
        this.store = store;
        this.invalidator = invalidator;
        executor = new ScheduledThreadPoolExecutor(1, PatternSweeper::thread);
        executor.setKeepAliveTime(THREAD_IDLE_SECONDS, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setRemoveOnCancelPolicy(true);
        invalidator.patterns().forEach(pattern -> writersAborted.add(pattern.stamp()));
    }

    @SuppressWarnings("ThreadPriorityCheck") // only a hint to the scheduler
    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "millrace-purge-sweep");
        thread.setDaemon(true);
        thread.setPriority(Thread.MIN_PRIORITY);
        return thread;
    }

    /** Starts sweeps for all live purges, present and future. */
    public void start() {
        invalidator.onPattern(() -> schedule(0));
    }

    /** Schedules a run, unless a run is already scheduled for an earlier time. */
    private void schedule(long delayMillis) {
        lock.lock();
        try {
            long atNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMillis);
            if (executor.isShutdown() || (next != null && nextNanos - atNanos <= 0)) {
                return;
            }
            if (next != null) {
                next.cancel(false);
            }
            nextNanos = atNanos;
            next = executor.schedule(this::run, delayMillis, TimeUnit.MILLISECONDS);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Clears the scheduled run. Called before a run reads the list of purges, so that a later purge schedules another
     * run.
     */
    private void forgetSchedule() {
        lock.lock();
        try {
            next = null;
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        forgetSchedule();
        boolean complete = true;
        try {
            List<PurgedPattern> patterns = invalidator.sweepable();
            if (!patterns.isEmpty()) {
                complete = sweep(patterns);
            }
        } catch (IOException | RuntimeException | Error e) {
            log.warn("a sweep for purges by pattern failed and will be repeated", e);
            complete = false;
        } catch (InterruptedException e) {
            // The sweeper is closed.
            Thread.currentThread().interrupt();
            return;
        }
        retryMillis = complete ? RETRY_MILLIS_MIN : Math.min(RETRY_MILLIS_MAX, 2 * retryMillis);
        if (!complete) {
            incomplete.increment();
            schedule(retryMillis);
        } else if (!invalidator.patterns().isEmpty()) {
            schedule(CHECK_MILLIS);
        }
    }

    private boolean sweep(List<PurgedPattern> patterns) throws IOException, InterruptedException {
        List<PurgedPattern> recent = patterns.stream()
                .filter(pattern -> !writersAborted.contains(pattern.stamp()))
                .toList();
        PatternSweep sweep = new PatternSweep(store, invalidator, patterns, recent, removed, marked);
        boolean complete = sweep.run();
        if (sweep.hasAbortedWriters()) {
            recent.forEach(pattern -> writersAborted.add(pattern.stamp()));
        }
        if (!complete) {
            log.debug("a sweep for {} purges by pattern is not complete: {}", patterns.size(), sweep.obstacle());
            return false;
        }
        for (PurgedPattern pattern : patterns) {
            // Set before the purge is retired: then only this time prevents that older responses are imported.
            times.swept(pattern.millis());
            invalidator.retire(pattern);
        }
        writersAborted.removeIf(stamp -> !invalidator.isLive(stamp));
        log.debug("purges by pattern are complete: {}", patterns.size());
        return true;
    }

    /** Number of stored responses that were removed. */
    public long removed() {
        return removed.sum();
    }

    /** Number of stored responses that were marked as stale. */
    public long marked() {
        return marked.sum();
    }

    /** Number of sweeps that were incomplete and had to be repeated. */
    public long incomplete() {
        return incomplete.sum();
    }

    /** Ends the thread. The next start of the proxy repeats an interrupted sweep. */
    @Override
    public void close() {
        executor.shutdownNow();
        boolean interrupted = false;
        boolean ended = false;
        long untilNanos = System.nanoTime() + CLOSE_NANOS;
        while (!ended && untilNanos - System.nanoTime() > 0) {
            try {
                ended = executor.awaitTermination(untilNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
