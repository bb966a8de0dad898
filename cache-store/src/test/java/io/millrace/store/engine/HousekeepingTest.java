package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HousekeepingTest {
    private final Housekeeping housekeeping = new Housekeeping();

    @AfterEach
    void close() {
        housekeeping.close();
    }

    /** As the RAM tier's policy does while others put in faster than it evicts. */
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
    void aTaskThatAsksForMoreOfItselfDoesNotRunInsideItself() {
        AsksForMore task = new AsksForMore(100);
        housekeeping.execute(task);
        assertTrue(TestStore.await(task.deepest) <= 2);
        assertEquals(100, task.runs);
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
