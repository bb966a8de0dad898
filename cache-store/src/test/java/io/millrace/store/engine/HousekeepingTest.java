package io.millrace.store.engine;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HousekeepingTest {
    private final Housekeeping housekeeping = new Housekeeping();

    @AfterEach
    void close() {
        housekeeping.close();
    }

    /** Like the RAM tier's policy while other threads insert faster than it evicts. */
    private final class AsksForMore implements Runnable {
        private final int wanted;
        private final CompletableFuture<Integer> deepest = new CompletableFuture<>();
        private int runs;
        private int depth;
        private int depthMax;

        AsksForMore(int wanted) {
            this.wanted = wanted;
        }

        @Override
        public void run() {
            depth++;
            depthMax = Math.max(depthMax, depth);
            runs++;
            if (runs == wanted) {
                deepest.complete(depthMax);
            } else {
                housekeeping.execute(this);
            }
            depth--;
        }
    }

    @Test
    void aTaskThatSchedulesItselfDoesNotRunRecursively() {
        AsksForMore task = new AsksForMore(100);
        housekeeping.execute(task);
        assertTrue(TestStore.await(task.deepest) <= 2);
        assertEquals(100, task.runs);
    }

    /** Otherwise memory that the task had reserved would still be counted when the store is closed. */
    @Test
    void closeWaitsForARunningTask() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicBoolean ended = new AtomicBoolean();
        AtomicBoolean endedAtClose = new AtomicBoolean();
        housekeeping.after(0, () -> {
            begun.countDown();
            awaitOpen(goOn);
            ended.set(true);
        });
        begun.await();
        Thread closing = new Thread(() -> {
            housekeeping.close();
            endedAtClose.set(ended.get());
        });
        closing.start();
        await().until(() -> closing.getState() == Thread.State.TIMED_WAITING || !closing.isAlive());
        goOn.countDown();
        closing.join();
        assertTrue(endedAtClose.get());
    }

    @Test
    void aTaskMayCloseIt() {
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        housekeeping.after(0, () -> {
            housekeeping.close();
            closed.complete(true);
        });
        assertTrue(TestStore.await(closed));
    }

    private static void awaitOpen(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Otherwise the RAM tier would keep its size, and the entries it has removed, for ever. */
    @Test
    void periodicTasksRunAgainAfterAFailure() {
        AtomicInteger runs = new AtomicInteger();
        CompletableFuture<Integer> third = new CompletableFuture<>();
        housekeeping.every(TimeUnit.MILLISECONDS.toNanos(1), () -> {
            if (runs.incrementAndGet() == 3) {
                third.complete(3);
            }
            throw new IllegalStateException("of this test");
        });
        assertEquals(3, TestStore.await(third));
    }

    @Test
    void aTaskRunsOnTheThreadThatHasTimeForIt_andWhatItAsksForOnItsOwn() {
        CompletableFuture<Thread> first = new CompletableFuture<>();
        CompletableFuture<Thread> second = new CompletableFuture<>();
        housekeeping.executeHere(() -> {
            first.complete(Thread.currentThread());
            housekeeping.executeHere(() -> second.complete(Thread.currentThread()));
        });
        assertSame(Thread.currentThread(), TestStore.await(first));
        assertEquals(
                "millrace-store-housekeeping-",
                TestStore.await(second).getName().replaceFirst("\\d.*", ""));
    }
}
