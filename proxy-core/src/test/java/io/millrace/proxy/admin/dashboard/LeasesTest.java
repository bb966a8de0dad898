package io.millrace.proxy.admin.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.resource.AdminException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Loopback listeners live as long as their leases. */
class LeasesTest {
    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger evictions = new AtomicInteger();
    private final Sessions sessions = new Sessions(now::get, evictions::incrementAndGet);
    private final LoginCodes codes = new LoginCodes(now::get, evictions::incrementAndGet);
    private final List<Runnable> scheduled = new ArrayList<>();
    private final AtomicInteger open = new AtomicInteger();
    private boolean hasPorts = true;

    private final LoopbackListeners listeners = new LoopbackListeners() {
        @Override
        public CompletionStage<Listener> open() {
            if (!hasPorts) {
                return CompletableFuture.failedFuture(new IOException("no port"));
            }
            open.incrementAndGet();
            return CompletableFuture.completedFuture(new Listener() {
                @Override
                public InetSocketAddress address() {
                    return new InetSocketAddress(1);
                }

                @Override
                public void close() {
                    open.decrementAndGet();
                }
            });
        }

        @Override
        public void schedule(Runnable task, Duration delay) {
            scheduled.add(task);
        }
    };

    private final Leases leases = new Leases(listeners, codes, sessions, now::get, evictions::incrementAndGet);

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
        List.copyOf(scheduled).forEach(Runnable::run);
    }

    private String lease() {
        return leases.open().toCompletableFuture().join().id();
    }

    @Test
    void renewedLeaseKeepsTheListenerOpen() {
        String lease = lease();
        for (int i = 0; i < 5; i++) {
            pass(Leases.LENGTH.minusSeconds(1));
            assertTrue(leases.renew(lease));
        }
        assertEquals(1, open.get());
        pass(Leases.LENGTH);
        assertEquals(0, open.get());
        assertFalse(leases.renew(lease));
    }

    @Test
    void endOfALeaseEndsItsSessionsAndCodes() {
        String lease = lease();
        String code = codes.next(AdminToken.OF_DASHBOARD, lease);
        Sessions.Opened session = sessions.open(AdminToken.OF_DASHBOARD, lease);
        Sessions.Opened other = sessions.open(AdminToken.OF_DASHBOARD, null);
        assertTrue(leases.close(lease));
        assertFalse(leases.close(lease));
        assertEquals(0, open.get());
        assertNull(codes.use(code));
        assertNull(sessions.find(session.cookie(), session.proof()));
        assertTrue(sessions.find(other.cookie(), other.proof()).hasProof());
    }

    @Test
    void unlimitedLeaseDoesNotExpire() {
        leases.openUnlimited().toCompletableFuture().join();
        String other = lease();
        pass(Leases.LENGTH.multipliedBy(10));
        assertFalse(leases.renew(other));
        assertEquals(1, open.get());
    }

    @Test
    void numberOfListenersIsLimited() {
        for (int i = 0; i < Leases.LEASES_MAX; i++) {
            lease();
        }
        CompletionException refused = assertThrows(CompletionException.class, this::lease);
        assertEquals(503, ((AdminException) refused.getCause()).status());
        assertEquals(Leases.LEASES_MAX, open.get());
        assertEquals(1, evictions.get());
    }

    @Test
    void failedListenerTakesNoLease() {
        hasPorts = false;
        for (int i = 0; i <= Leases.LEASES_MAX; i++) {
            assertThrows(CompletionException.class, this::lease);
        }
        hasPorts = true;
        lease();
        assertEquals(1, open.get());
    }
}
