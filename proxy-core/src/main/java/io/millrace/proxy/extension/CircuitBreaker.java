package io.millrace.proxy.extension;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The circuit breaker of one hook of an extension. It opens after {@value #FAILURES_MAX} failed calls in succession.
 * Then the hook is not called for 10 seconds, and after that one call in 10 seconds is a trial. A successful call
 * closes it.
 *
 * <p>Thread-safe. Never blocks.
 */
final class CircuitBreaker {
    /** The number of failed calls in succession that opens the breaker. */
    static final int FAILURES_MAX = 20;

    /** The time for which an open breaker permits no call. */
    static final long OPEN_NANOS = 10_000_000_000L;

    private final LongSupplier nanoTime;
    private final AtomicInteger failures = new AtomicInteger();
    /** The time of the next trial while the breaker is open. */
    private final AtomicLong trialNanos = new AtomicLong();

    private final Lock lock = new ReentrantLock();
    private volatile boolean open;

    /** @param nanoTime as {@link System#nanoTime} */
    CircuitBreaker(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    boolean isOpen() {
        return open;
    }

    /** Returns true if the next call may be made. An open breaker permits one trial call in {@link #OPEN_NANOS}. */
    boolean admits() {
        if (!open) {
            return true;
        }
        long now = nanoTime.getAsLong();
        long trial = trialNanos.get();
        return now - trial >= 0 && trialNanos.compareAndSet(trial, now + OPEN_NANOS);
    }

    /** Records a successful call. Returns true if it has closed the breaker. */
    boolean succeeded() {
        if (failures.get() != 0) {
            failures.set(0);
        }
        if (open) {
            lock.lock();
            try {
                boolean closes = open;
                open = false;
                return closes;
            } finally {
                lock.unlock();
            }
        }
        return false;
    }

    /** Records a failed call. Returns true if it has opened the breaker. */
    boolean failed() {
        if (failures.incrementAndGet() < FAILURES_MAX || open) {
            return false;
        }
        lock.lock();
        try {
            boolean opens = !open;
            trialNanos.set(nanoTime.getAsLong() + OPEN_NANOS);
            open = true;
            return opens;
        } finally {
            lock.unlock();
        }
    }
}
