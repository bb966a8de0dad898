package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.access.AdminToken;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Codes that open one session each, within two minutes. Thread-safe. */
final class LoginCodes {
    static final Duration LIFETIME = Duration.ofMinutes(2);

    /** Limit of valid codes; a further code makes the oldest one invalid. */
    static final int CODES_MAX = 64;

    private final LongSupplier nanoTime;
    private final Runnable replaced;
    private final Lock lock = new ReentrantLock();
    /** Valid codes by their digest, the oldest first. */
    private final Map<String, Code> codes = new LinkedHashMap<>();

    /**
     * Creates the registry, without codes.
     *
     * @param nanoTime as {@link System#nanoTime}
     * @param replaced called when a further code makes the oldest invalid
     */
    LoginCodes(LongSupplier nanoTime, Runnable replaced) {
        this.nanoTime = nanoTime;
        this.replaced = replaced;
    }

    /**
     * The properties of a code.
     *
     * @param token the token whose rights a session opened by the code has
     * @param lease the lease of the loopback listener of {@code millctl dashboard} for which the code was made; null
     *     for a code of {@code admin.listen}
     */
    record Code(AdminToken token, @Nullable String lease, long startNanos) {}

    /** Creates a code that opens one session. */
    String next(AdminToken token, @Nullable String lease) {
        lock.lock();
        try {
            endExpired();
            if (codes.size() >= CODES_MAX) {
                replaced.run();
                Iterator<String> oldest = codes.keySet().iterator();
                oldest.next();
                oldest.remove();
            }
            String code = Secret.next();
            codes.put(Secret.digest(code), new Code(token, lease, nanoTime.getAsLong()));
            return code;
        } finally {
            lock.unlock();
        }
    }

    /** Uses up a code. Returns null if it is unknown, was used before, or is older than two minutes. */
    @Nullable
    Code use(String code) {
        lock.lock();
        try {
            endExpired();
            return codes.remove(Secret.digest(code));
        } finally {
            lock.unlock();
        }
    }

    private void endExpired() {
        long now = nanoTime.getAsLong();
        codes.values().removeIf(code -> now - code.startNanos >= LIFETIME.toNanos());
    }

    /** Makes the codes of a lease invalid, because its listener ends. */
    void removeLease(String lease) {
        lock.lock();
        try {
            codes.values().removeIf(code -> lease.equals(code.lease));
        } finally {
            lock.unlock();
        }
    }
}
