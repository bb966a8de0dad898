package io.millrace.proxy.admin.access;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * A limit of requests per minute, as a token bucket that is full at first and holds the requests of one minute.
 * Thread-safe.
 */
final class RequestLimit {
    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final long intervalNanos;
    private final LongSupplier nanoTime;
    private final ReentrantLock lock = new ReentrantLock();
    /** Time at which the bucket is full again; in the past while it is full. */
    private long fullAtNanos;

    /** @param perMinute at least 1 */
    RequestLimit(int perMinute, LongSupplier nanoTime) {
        this.intervalNanos = MINUTE_NANOS / perMinute;
        this.nanoTime = nanoTime;
        fullAtNanos = nanoTime.getAsLong();
    }

    /** Counts a request; returns 0 if it is allowed, else the seconds until the next one is, at least 1. */
    long count() {
        lock.lock();
        try {
            return count(nanoTime.getAsLong());
        } finally {
            lock.unlock();
        }
    }

    private long count(long now) {
        if (fullAtNanos - now < 0) {
            fullAtNanos = now;
        }
        long excessNanos = fullAtNanos + intervalNanos - now - MINUTE_NANOS;
        if (excessNanos > 0) {
            return Math.max(1, TimeUnit.NANOSECONDS.toSeconds(excessNanos + TimeUnit.SECONDS.toNanos(1) - 1));
        }
        fullAtNanos += intervalNanos;
        return 0;
    }
}
