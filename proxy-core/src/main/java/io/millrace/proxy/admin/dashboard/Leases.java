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
 * The loopback listeners that {@code millctl dashboard} holds. Each has a lease that the command renews; a listener whose lease
 * ends is closed, with the sessions that were opened by its codes. A killed command therefore leaves no open port.
 *
 * <p>Thread-safe.
 */
final class Leases {
    static final Duration LENGTH = Duration.ofSeconds(30);

    static final int LEASES_MAX = 8;

    private final LoopbackListeners listeners;
    private final LoginCodes codes;
    private final Sessions sessions;
    private final LongSupplier nanoTime;
    private final Lock lock = new ReentrantLock();
    private final Map<String, Held> leases = new HashMap<>();
    private int opening;

    Leases(LoopbackListeners listeners, LoginCodes codes, Sessions sessions, LongSupplier nanoTime) {
        this.listeners = listeners;
        this.codes = codes;
        this.sessions = sessions;
        this.nanoTime = nanoTime;
    }

    /** A listener and its lease. */
    record Lease(String id, LoopbackListeners.Listener listener) {}

    /** @param isUnlimited whether the lease ends with the process only */
    private record Held(LoopbackListeners.Listener listener, boolean isUnlimited, long endNanos) {}

    /** Opens a listener with a lease. Completes with an {@link AdminException} if all leases are taken. */
    CompletionStage<Lease> open() {
        return open(false);
    }

    /** Opens a listener for the time of the process. */
    CompletionStage<Lease> openUnlimited() {
        return open(true);
    }

    private CompletionStage<Lease> open(boolean isUnlimited) {
        lock.lock();
        try {
            if (leases.size() + opening >= LEASES_MAX) {
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
                hold(id, listener, isUnlimited);
                return new Lease(id, listener);
            } finally {
                lock.unlock();
            }
        });
    }

    /** Renews a lease. False if it has ended. */
    boolean renew(String id) {
        lock.lock();
        try {
            Held held = leases.get(id);
            if (held == null) {
                return false;
            }
            hold(id, held.listener(), held.isUnlimited());
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void hold(String id, LoopbackListeners.Listener listener, boolean isUnlimited) {
        lock.lock();
        try {
            leases.put(id, new Held(listener, isUnlimited, nanoTime.getAsLong() + LENGTH.toNanos()));
            if (!isUnlimited) {
                listeners.schedule(this::endExpired, LENGTH.plusSeconds(1));
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends a lease. False if it has ended already. */
    boolean close(String id) {
        Held held;
        lock.lock();
        try {
            held = leases.remove(id);
        } finally {
            lock.unlock();
        }
        if (held == null) {
            return false;
        }
        codes.endOf(id);
        sessions.endOf(id);
        held.listener().close();
        return true;
    }

    private void endExpired() {
        List<String> expired = new ArrayList<>();
        lock.lock();
        try {
            long now = nanoTime.getAsLong();
            leases.forEach((id, held) -> {
                if (!held.isUnlimited() && now - held.endNanos() >= 0) {
                    expired.add(id);
                }
            });
        } finally {
            lock.unlock();
        }
        expired.forEach(this::close);
    }
}
