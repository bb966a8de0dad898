package io.millrace.proxy.admin.access;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * A token bucket, which is full at first. It allows a burst of a fixed size, and then one event in each interval.
 * Thread-safe.
 *
 * <p>The bucket is one number, the time at which it is full again (the generic cell rate algorithm of ATM Forum TM
 * 4.0).
 */
public final class RateLimit {
    private final long intervalNanos;
    private final long capacityNanos;
    private final LongSupplier nanoTime;
    private final ReentrantLock lock = new ReentrantLock();
    /** Time at which the bucket is full again; in the past while it is full. */
    private long fullAtNanos;

    /**
     * Creates a full bucket.
     *
     * @param size size of the burst, in events, at least 1
     * @param interval time after which one more event is allowed
     * @param nanoTime as {@link System#nanoTime}
     */
    public RateLimit(int size, Duration interval, LongSupplier nanoTime) {
        intervalNanos = interval.toNanos();
        capacityNanos = Math.multiplyExact(size, intervalNanos);
        this.nanoTime = nanoTime;
        fullAtNanos = nanoTime.getAsLong();
    }

    /**
     * Creates a limit of events per minute, all of which may come at once.
     *
     * @param events at least 1
     */
    static RateLimit perMinute(int events, LongSupplier nanoTime) {
        return new RateLimit(events, Duration.ofMinutes(1).dividedBy(events), nanoTime);
    }

    /**
     * Counts an event if it is allowed, and returns 0. Otherwise returns the seconds until an event is allowed, at
     * least 1.
     */
    public long count() {
        lock.lock();
        try {
            long seconds = secondsToWait();
            if (seconds == 0) {
                fullAtNanos += intervalNanos;
            }
            return seconds;
        } finally {
            lock.unlock();
        }
    }

    /** Counts an event whether it is allowed or not. */
    public void countAlways() {
        lock.lock();
        try {
            secondsToWait();
            fullAtNanos += intervalNanos;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the seconds until an event is allowed, at least 1. Returns 0 if it is allowed now. Counts nothing. */
    public long secondsToWait() {
        lock.lock();
        try {
            long now = nanoTime.getAsLong();
            if (fullAtNanos - now < 0) {
                fullAtNanos = now;
            }
            long excessNanos = fullAtNanos + intervalNanos - now - capacityNanos;
            return excessNanos <= 0
                    ? 0
                    : Duration.ofNanos(excessNanos).plusSeconds(1).minusNanos(1).toSeconds();
        } finally {
            lock.unlock();
        }
    }
}
