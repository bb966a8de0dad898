package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.access.RateLimit;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits the failed logins of each address: five, and then one more every twelve seconds. All addresses of an IPv6 /64
 * count as one. Thread-safe.
 */
final class LoginLimit {
    static final int FAILURES_MAX = 5;

    static final Duration PER_FURTHER_TRY = Duration.ofSeconds(12);

    /** Limit of stored addresses; a further address replaces the one that failed longest ago. */
    static final int ADDRESSES_MAX = 1024;

    private static final int PREFIX_BYTES = 8;

    private final LongSupplier nanoTime;
    private final Runnable forgotten;
    private final Lock lock = new ReentrantLock();
    /** The failures of each address, in order of the last failure. */
    private final Map<ByteBuffer, RateLimit> failures = new LinkedHashMap<>();

    /**
     * Creates a limit, without failures.
     *
     * @param nanoTime as {@link System#nanoTime}
     * @param forgotten called when an address is replaced by another one
     */
    LoginLimit(LongSupplier nanoTime, Runnable forgotten) {
        this.nanoTime = nanoTime;
        this.forgotten = forgotten;
    }

    /** Seconds until the address may try again; 0 if it may. */
    long secondsToWait(@Nullable InetAddress address) {
        lock.lock();
        try {
            RateLimit limit = failures.get(key(address));
            return limit == null ? 0 : limit.secondsToWait();
        } finally {
            lock.unlock();
        }
    }

    /** Counts a failed login. */
    void failed(@Nullable InetAddress address) {
        lock.lock();
        try {
            ByteBuffer key = key(address);
            RateLimit limit = failures.remove(key);
            if (limit == null) {
                limit = new RateLimit(FAILURES_MAX, PER_FURTHER_TRY, nanoTime);
                if (failures.size() >= ADDRESSES_MAX) {
                    failures.remove(failures.keySet().iterator().next());
                    forgotten.run();
                }
            }
            limit.countAlways();
            failures.put(key, limit);
        } finally {
            lock.unlock();
        }
    }

    private static ByteBuffer key(@Nullable InetAddress address) {
        if (address == null) {
            return ByteBuffer.allocate(0);
        }
        byte[] bytes = address.getAddress();
        return ByteBuffer.wrap(address instanceof Inet6Address ? Arrays.copyOf(bytes, PREFIX_BYTES) : bytes);
    }
}
