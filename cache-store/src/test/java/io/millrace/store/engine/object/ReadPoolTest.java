package io.millrace.store.engine.object;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.engine.TestStore;
import io.millrace.store.memory.MemoryBudget;
import io.millrace.store.memory.MemoryBudget.Part;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ReadPoolTest {
    private static final int READ_BYTES = 1 << 20;
    private static final int WAITING = 500;

    private final MemoryBudget budget = new MemoryBudget(64 << 20);
    private final ReadPool pool = new ReadPool(1, new StoreCounters(), budget);

    /** Each refused read releases its memory, which starts the next read. */
    @Test
    void refusingAllThatWaitGoesNoDeeperForEach() throws IOException {
        long taken = 0;
        while (budget.reserve(Part.READING, READ_BYTES)) {
            taken += READ_BYTES;
        }
        assertTrue(taken > 0);
        AtomicInteger refused = new AtomicInteger();
        AtomicLong deepest = new AtomicLong();
        for (int i = 0; i < WAITING; i++) {
            pool.read(READ_BYTES, () -> {}, () -> {
                refused.incrementAndGet();
                long depth = StackWalker.getInstance().walk(frames -> frames.count());
                deepest.accumulateAndGet(depth, Math::max);
            });
        }
        assertEquals(0, refused.get());
        CountDownLatch go = new CountDownLatch(1);
        while (pool.execute(() -> TestStore.awaitLatch(go))) {
            // Waits until the queue is full.
        }
        long own = StackWalker.getInstance().walk(frames -> frames.count());
        budget.release(Part.READING, taken);
        go.countDown();
        pool.close();
        assertEquals(WAITING, refused.get());
        assertTrue(deepest.get() < own + 40, "depth " + deepest + " from " + own);
        assertEquals(0, budget.bytes(Part.READING));
    }

    /** The thread that releases memory may hold the lock of an eviction, for which a reservation may wait. */
    @Test
    void nothingIsReservedOnTheThreadThatGivesBack() throws IOException {
        long taken = 0;
        while (budget.reserve(Part.READING, READ_BYTES)) {
            taken += READ_BYTES;
        }
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        assertTrue(pool.execute(() -> TestStore.awaitLatch(go)));
        pool.read(
                READ_BYTES,
                () -> {
                    budget.release(Part.READING, READ_BYTES);
                    done.countDown();
                },
                () -> {});
        budget.release(Part.READING, taken);
        assertEquals(0, budget.bytes(Part.READING));
        go.countDown();
        TestStore.awaitLatch(done);
        pool.close();
    }
}
