package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.access.AdminToken;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of the dashboard, in memory. A request belongs to a session if it contains the session's cookie
 * and the session's proof, a second secret.
 *
 * <p>Browsers send cookies to every port of a host name, so another program on the same machine can receive the cookie.
 * The proof is kept by the page in the storage of its origin, which includes the port. Therefore the cookie alone is
 * useless to that program.
 *
 * <p>A session has the rights of the token that opened it. Thread-safe.
 */
final class Sessions {
    /** Limit of sessions. A further login ends the oldest session of its token, or else the oldest session of all. */
    static final int SESSIONS_MAX = 64;

    static final Duration LIFETIME = Duration.ofHours(12);

    private final LongSupplier nanoTime;
    private final Runnable replaced;
    private final Lock lock = new ReentrantLock();
    /** Open sessions by the digest of the cookie's value, the oldest first. */
    private final Map<String, Session> byCookie = new LinkedHashMap<>();

    /**
     * Creates the registry, without sessions.
     *
     * @param nanoTime as {@link System#nanoTime}
     * @param replaced called when a further login ends an older session
     */
    Sessions(LongSupplier nanoTime, Runnable replaced) {
        this.nanoTime = nanoTime;
        this.replaced = replaced;
    }

    private record Session(
            String proofDigest, AdminToken token, @Nullable String lease, long startNanos) {}

    /** The two secrets of a new session. */
    record Opened(String cookie, String proof) {}

    /**
     * The session with the cookie of a request.
     *
     * @param token the token with whose rights it was opened
     * @param hasProof false if the request contains only the cookie, so it is not from the page
     */
    record Found(AdminToken token, boolean hasProof, Duration remaining) {}

    /**
     * Opens a session.
     *
     * @param token the token whose rights the session has
     * @param lease the lease; the session ends with it; null for a session without a lease
     */
    Opened open(AdminToken token, @Nullable String lease) {
        lock.lock();
        try {
            endExpired();
            if (byCookie.size() >= SESSIONS_MAX) {
                endOldest(token.name());
                replaced.run();
            }
            Opened opened = new Opened(Secret.next(), Secret.next());
            Session session = new Session(Secret.digest(opened.proof()), token, lease, nanoTime.getAsLong());
            byCookie.put(Secret.digest(opened.cookie()), session);
            return opened;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the session with this cookie; null if there is none. */
    @Nullable
    Found find(String cookie, @Nullable String proof) {
        lock.lock();
        try {
            endExpired();
            Session session = byCookie.get(Secret.digest(cookie));
            return session == null
                    ? null
                    : new Found(
                            session.token,
                            proof != null && Secret.digest(proof).equals(session.proofDigest),
                            LIFETIME.minusNanos(nanoTime.getAsLong() - session.startNanos));
        } finally {
            lock.unlock();
        }
    }

    /** Ends the session with this cookie. Returns false if there is none. */
    boolean end(String cookie) {
        lock.lock();
        try {
            return byCookie.remove(Secret.digest(cookie)) != null;
        } finally {
            lock.unlock();
        }
    }

    /** Ends every session. Returns how many there were. */
    int endAll() {
        lock.lock();
        try {
            endExpired();
            int ended = byCookie.size();
            byCookie.clear();
            return ended;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the sessions that were opened with codes of this lease. */
    void removeLease(String lease) {
        lock.lock();
        try {
            byCookie.values().removeIf(session -> lease.equals(session.lease));
        } finally {
            lock.unlock();
        }
    }

    private void endOldest(String tokenName) {
        String oldest = null;
        for (Map.Entry<String, Session> each : byCookie.entrySet()) {
            if (each.getValue().token.name().equals(tokenName)) {
                oldest = each.getKey();
                break;
            }
        }
        byCookie.remove(oldest == null ? byCookie.keySet().iterator().next() : oldest);
    }

    private void endExpired() {
        long now = nanoTime.getAsLong();
        byCookie.values().removeIf(session -> now - session.startNanos >= LIFETIME.toNanos());
    }
}
