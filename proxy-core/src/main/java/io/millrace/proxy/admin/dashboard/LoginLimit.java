package io.millrace.proxy.admin.dashboard;

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
 * Limits the failed logins of each address: five, and then one more every twelve seconds. All addresses of an IPv6 /64 count as one.
 * Thread-safe.
 */
final class LoginLimit {
    static final int FAILURES_MAX = 5;

    static final Duration PER_FURTHER_TRY = Duration.ofSeconds(12);

    /** Addresses that are remembered; a further one replaces the one that failed longest ago. */
    static final int ADDRESSES_MAX = 1024;

    private static final int PREFIX_BYTES = 8;

    private final LongSupplier nanoTime;
    private final Lock lock = new ReentrantLock();
    /** The time from which on an address has no failures left, in order of the last failure. */
    private final Map<ByteBuffer, Long> clearNanos = new LinkedHashMap<>();

    /** @param nanoTime as {@link System#nanoTime} */
    LoginLimit(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Seconds until the address may try again; 0 if it may. */
    long secondsToWait(@Nullable InetAddress address) {
        lock.lock();
        try {
            Long clear = clearNanos.get(key(address));
            long now = nanoTime.getAsLong();
            if (clear == null) {
                return 0;
            }
            long over = clear - now - (FAILURES_MAX - 1) * PER_FURTHER_TRY.toNanos();
            return over <= 0 ? 0 : Duration.ofNanos(over).toSeconds() + 1;
        } finally {
            lock.unlock();
        }
    }

    /** Counts a failed login. */
    void failed(@Nullable InetAddress address) {
        lock.lock();
        try {
            ByteBuffer key = key(address);
            long now = nanoTime.getAsLong();
            Long clear = clearNanos.remove(key);
            long from = clear == null || clear - now < 0 ? now : clear;
            if (clearNanos.size() >= ADDRESSES_MAX) {
                clearNanos.remove(clearNanos.keySet().iterator().next());
            }
            clearNanos.put(key, from + PER_FURTHER_TRY.toNanos());
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
