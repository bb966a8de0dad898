package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.AdminException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The loopback listeners of {@code millctl dashboard}. Each has a lease that the command renews; a listener whose lease
 * ends is closed, with the sessions that were opened by its codes. A killed command therefore leaves no open port.
 *
 * <p>Thread-safe.
 */
final class Leases {
    /** Time for which a lease lasts without a renewal. */
    static final Duration LENGTH = Duration.ofSeconds(30);

    static final int LEASES_MAX = 8;

    private final LoopbackListeners listeners;
    private final LoginCodes codes;
    private final Sessions sessions;
    private final LongSupplier nanoTime;
    private final Runnable refused;
    private final Lock lock = new ReentrantLock();
    private final Map<String, Leased> leases = new HashMap<>();
    /** Number of listeners that are being opened. */
    private int opening;

    /**
     * Creates the registry, without leases.
     *
     * @param nanoTime as {@link System#nanoTime}
     * @param refused called when a lease is refused because the limit of leases is reached
     */
    Leases(LoopbackListeners listeners, LoginCodes codes, Sessions sessions, LongSupplier nanoTime, Runnable refused) {
        this.listeners = listeners;
        this.codes = codes;
        this.sessions = sessions;
        this.nanoTime = nanoTime;
        this.refused = refused;
    }

    /** A listener and its lease. */
    record Lease(String id, LoopbackListeners.Listener listener) {}

    /** @param isUnlimited whether the lease needs no renewal */
    private record Leased(LoopbackListeners.Listener listener, boolean isUnlimited, long endNanos) {}

    /** Opens a listener with a lease. Completes with an {@link AdminException} if the limit of leases is reached. */
    CompletionStage<Lease> open() {
        return open(false);
    }

    /** Opens a listener whose lease needs no renewal. */
    CompletionStage<Lease> openUnlimited() {
        return open(true);
    }

    private CompletionStage<Lease> open(boolean isUnlimited) {
        lock.lock();
        try {
            if (leases.size() + opening >= LEASES_MAX) {
                refused.run();
                return CompletableFuture.failedFuture(new AdminException(
                        503,
                        "busy",
                        LEASES_MAX + " dashboards are open; end one of the commands 'millctl dashboard', or wait "
                                + LENGTH.toSeconds() + " s"));
            }
            opening++;
        } finally {
            lock.unlock();
        }
        return listeners.open().handle((listener, failure) -> {
            lock.lock();
            try {
                opening--;
                if (failure != null) {
                    throw new IllegalStateException("no loopback port could be opened", failure);
                }
                String id = Secret.next();
                extend(id, listener, isUnlimited);
                return new Lease(id, listener);
            } finally {
                lock.unlock();
            }
        });
    }

    /** Renews a lease. Returns false if it has ended. */
    boolean renew(String id) {
        lock.lock();
        try {
            Leased leased = leases.get(id);
            if (leased == null) {
                return false;
            }
            extend(id, leased.listener(), leased.isUnlimited());
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void extend(String id, LoopbackListeners.Listener listener, boolean isUnlimited) {
        lock.lock();
        try {
            leases.put(id, new Leased(listener, isUnlimited, nanoTime.getAsLong() + LENGTH.toNanos()));
            if (!isUnlimited) {
                listeners.schedule(this::endExpired, LENGTH.plusSeconds(1));
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends a lease and closes its listener. Returns false if it has ended already. */
    boolean close(String id) {
        Leased ended;
        lock.lock();
        try {
            ended = leases.remove(id);
        } finally {
            lock.unlock();
        }
        if (ended == null) {
            return false;
        }
        codes.removeLease(id);
        sessions.removeLease(id);
        ended.listener().close();
        return true;
    }

    private void endExpired() {
        List<String> expired = new ArrayList<>();
        lock.lock();
        try {
            long now = nanoTime.getAsLong();
            leases.forEach((id, leased) -> {
                if (!leased.isUnlimited() && now - leased.endNanos() >= 0) {
                    expired.add(id);
                }
            });
        } finally {
            lock.unlock();
        }
        expired.forEach(this::close);
    }
}
