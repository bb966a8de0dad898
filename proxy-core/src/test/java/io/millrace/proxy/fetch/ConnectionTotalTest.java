package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests the places of a process-wide limit: their number under contention, and the order of those who wait. */
class ConnectionTotalTest {
    /** A pool that counts its calls. */
    private static final class Pool implements ConnectionTotal.Member {
        final Semaphore places = new Semaphore(0);
        final AtomicInteger demands = new AtomicInteger();

        @Override
        public void onPlace() {
            places.release();
        }

        @Override
        public void onDemand() {
            demands.incrementAndGet();
        }
    }

    private final ConnectionTotal total = new ConnectionTotal();

    private Pool pool() {
        Pool pool = new Pool();
        total.join(pool);
        return pool;
    }

    @Test
    void freePlacesGoToWaitingPoolsInTheirOrder() {
        Pool first = pool();
        Pool second = pool();
        assertTrue(total.tryAcquire(1));
        assertFalse(total.tryAcquire(1));
        total.await(new ConnectionTotal.Waiter(first, 0, 1));
        total.await(new ConnectionTotal.Waiter(second, 0, 1));
        assertEquals(1, second.demands.get());
        total.release(1);
        assertEquals(1, first.places.availablePermits());
        assertEquals(0, second.places.availablePermits());
        assertFalse(total.tryAcquire(9), "the second pool waits");
        total.release(1);
        assertEquals(1, second.places.availablePermits());
        assertEquals(1, total.places());
    }

    @Test
    void aWithdrawnWaitGetsNoPlace() {
        Pool pool = pool();
        assertTrue(total.tryAcquire(1));
        ConnectionTotal.Waiter wait = new ConnectionTotal.Waiter(pool, 0, 1);
        total.await(wait);
        assertTrue(total.withdraw(wait));
        total.release(1);
        assertEquals(0, total.places());
        assertFalse(total.withdraw(wait));
        assertEquals(0, pool.places.availablePermits());
    }

    /** With fewer places than pools each gets one in turn; otherwise numbers may differ by one. */
    @Test
    void aPlaceIsOwedToAPoolThatHasFewer() {
        Pool one = pool();
        Pool other = pool();
        assertFalse(total.shouldYield(one, 5));
        assertTrue(total.tryAcquire(2));
        assertTrue(total.tryAcquire(2));
        ConnectionTotal.Waiter wait = new ConnectionTotal.Waiter(other, 0, 2);
        total.await(wait);
        assertFalse(total.shouldYield(other, 5));
        assertTrue(total.shouldYield(one, 2));
        assertFalse(total.shouldYield(one, 1));
        assertTrue(total.withdraw(wait));
        total.await(new ConnectionTotal.Waiter(one, 1, 1));
        total.await(new ConnectionTotal.Waiter(other, 0, 1));
        assertTrue(total.shouldYield(one, 1), "one place for two pools");
    }

    /** The second pool was announced while a pool was already closing a connection for the first. */
    @Test
    void theOthersAreAskedAgainForTheNextPool() {
        Pool busy = pool();
        Pool first = pool();
        Pool second = pool();
        assertTrue(total.tryAcquire(2));
        assertTrue(total.tryAcquire(2));
        total.await(new ConnectionTotal.Waiter(first, 0, 2));
        total.await(new ConnectionTotal.Waiter(second, 0, 2));
        assertEquals(2, busy.demands.get());
        assertTrue(total.claimYield(busy, 2));
        assertFalse(total.claimYield(busy, 2), "another pool already yields to the first pool");
        total.release(1);
        assertEquals(1, first.places.availablePermits());
        assertEquals(3, busy.demands.get());
        assertTrue(total.claimYield(busy, 1), "no pool yields to the second pool yet");
        total.release(1);
        assertEquals(1, second.places.availablePermits());
        assertEquals(3, busy.demands.get());
    }

    @Test
    void theOthersAreAskedAgainAfterAWithdrawal() {
        Pool busy = pool();
        Pool first = pool();
        Pool second = pool();
        assertTrue(total.tryAcquire(1));
        ConnectionTotal.Waiter wait = new ConnectionTotal.Waiter(first, 0, 1);
        total.await(wait);
        total.await(new ConnectionTotal.Waiter(second, 0, 1));
        assertTrue(total.withdraw(wait));
        assertEquals(3, busy.demands.get());
    }

    /** A pool that waits itself, and first, ends a connection for the next one. */
    @Test
    void aPoolYieldsOnlyToAnotherPool() {
        Pool busy = pool();
        Pool other = pool();
        assertTrue(total.tryAcquire(1));
        total.await(new ConnectionTotal.Waiter(busy, 1, 1));
        assertFalse(total.isAwaitedByOther(busy));
        assertFalse(total.claimYield(busy, 1));
        ConnectionTotal.Waiter wait = new ConnectionTotal.Waiter(other, 0, 1);
        total.await(wait);
        assertTrue(total.isAwaitedByOther(busy));
        assertTrue(total.claimYield(busy, 1));
        assertTrue(wait.yieldClaimed().get());
    }

    @Test
    void moreThreadsThanPlacesNeverExceedTheLimit() throws Exception {
        int limit = 3;
        AtomicInteger inUse = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(8);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Pool pool = pool();
            Thread thread = new Thread(() -> {
                for (int turn = 0; turn < 2000; turn++) {
                    if (!total.tryAcquire(limit)) {
                        total.await(new ConnectionTotal.Waiter(pool, 0, limit));
                        pool.places.acquireUninterruptibly();
                    }
                    most.accumulateAndGet(inUse.incrementAndGet(), Math::max);
                    inUse.decrementAndGet();
                    total.release(1);
                }
                done.countDown();
            });
            threads.add(thread);
            thread.start();
        }
        assertTrue(done.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS), "a pool waits on");
        for (Thread thread : threads) {
            thread.join();
        }
        assertTrue(most.get() <= limit, () -> "in use: " + most);
        assertEquals(0, total.places());
        assertFalse(total.isAwaited());
    }
}
