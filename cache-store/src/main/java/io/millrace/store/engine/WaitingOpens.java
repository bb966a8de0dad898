package io.millrace.store.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lookups that wait until an index is complete, each for a limited time.
 *
 * <p>An index is incomplete while it is rebuilt after a start.
 *
 * <p>Thread-safe.
 */
final class WaitingOpens {
    /** Maximum number of waiting lookups. Further lookups do not wait. */
    private static final int WAITING_MAX = 10_000;

    private final Housekeeping timer;
    private final long waitNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private List<Waiter> waiters = new ArrayList<>();
    /** Number of calls of {@link #indexChanged}. */
    private final AtomicLong indexChanges = new AtomicLong();

    private boolean closed;

    private record Waiter(Runnable retry, Runnable giveUp) {}

    WaitingOpens(Housekeeping timer, long waitNanos) {
        this.timer = timer;
        this.waitNanos = waitNanos;
    }

    /** Returns the deadline of a lookup that begins now, in {@link System#nanoTime}. */
    long deadlineNanos() {
        return System.nanoTime() + waitNanos;
    }

    /** Returns the number of index changes so far. A lookup reads it before it searches the volumes. */
    long indexChanges() {
        return indexChanges.get();
    }

    /**
     * Adds a waiting lookup. Retries it immediately if an index has changed since the lookup began, because no other
     * event might retry it. Returns false if it cannot wait: its time is over, too many lookups wait, or the store is
     * closed. After true, exactly one of the two callbacks runs, once.
     *
     * @param changesAtBegin value of {@link #indexChanges()} when the lookup began
     */
    boolean add(long deadlineNanos, long changesAtBegin, Runnable retry, Runnable giveUp) {
        long remainingNanos = deadlineNanos - System.nanoTime();
        Waiter waiter = new Waiter(retry, giveUp);
        boolean isOutdated;
        lock.lock();
        try {
            if (closed || remainingNanos <= 0 || waiters.size() >= WAITING_MAX) {
                return false;
            }
            isOutdated = indexChanges.get() != changesAtBegin;
            if (!isOutdated) {
                waiters.add(waiter);
            }
        } finally {
            lock.unlock();
        }
        if (isOutdated) {
            retry.run();
            return true;
        }
        if (!timer.after(remainingNanos, () -> expire(waiter))) {
            expire(waiter);
        }
        return true;
    }

    private void expire(Waiter waiter) {
        boolean wasWaiting;
        lock.lock();
        try {
            wasWaiting = waiters.remove(waiter);
        } finally {
            lock.unlock();
        }
        if (wasWaiting) {
            waiter.giveUp().run();
        }
    }

    /** Retries all lookups. Called when an index became complete or its volume went offline. */
    void indexChanged() {
        // The number is raised before the list is taken. So a lookup that is added later sees the new number.
        indexChanges.incrementAndGet();
        retry();
    }

    /** Retries all lookups. */
    void retry() {
        for (Waiter waiter : takeAll(false)) {
            waiter.retry().run();
        }
    }

    /** Ends all waiting lookups without a result, and accepts no more. */
    void close() {
        for (Waiter waiter : takeAll(true)) {
            waiter.giveUp().run();
        }
    }

    /** Removes and returns all waiting lookups. With {@code andClose}, no more are accepted. */
    private List<Waiter> takeAll(boolean andClose) {
        lock.lock();
        try {
            List<Waiter> taken = waiters;
            waiters = new ArrayList<>();
            closed |= andClose;
            return taken;
        } finally {
            lock.unlock();
        }
    }
}
