package io.millrace.proxy.extension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the tasks and timers of one extension on threads that others use too. */
class ExtensionExecutorTest {
    private static final long WAIT_SECONDS = 30;

    private final ScheduledThreadPoolExecutor threads = new ScheduledThreadPoolExecutor(1);
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private final ExtensionExecutor executor = new ExtensionExecutor("test", threads, failures::add);
    private final ExtensionExecutor other = new ExtensionExecutor("other", threads, failures::add);

    @AfterEach
    void shutDown() {
        threads.shutdownNow();
    }

    @Test
    void tasksAndTimersRun() throws Exception {
        Semaphore runs = new Semaphore(0);
        executor.execute(runs::release);
        executor.schedule((Runnable) runs::release, 1, TimeUnit.MILLISECONDS);
        assertTrue(runs.tryAcquire(2, WAIT_SECONDS, TimeUnit.SECONDS));
        assertEquals("value", executor.submit(() -> "value").get(WAIT_SECONDS, TimeUnit.SECONDS));
        assertEquals(
                "later",
                executor.schedule(() -> "later", 1, TimeUnit.MILLISECONDS).get(WAIT_SECONDS, TimeUnit.SECONDS));
        ScheduledFuture<?> rate = executor.scheduleAtFixedRate(runs::release, 0, 1, TimeUnit.MILLISECONDS);
        assertTrue(runs.tryAcquire(3, WAIT_SECONDS, TimeUnit.SECONDS));
        assertTrue(rate.cancel(false));
        ScheduledFuture<?> delay = executor.scheduleWithFixedDelay(runs::release, 0, 1, TimeUnit.MILLISECONDS);
        assertTrue(runs.tryAcquire(3, WAIT_SECONDS, TimeUnit.SECONDS));
        delay.cancel(false);
        assertEquals(List.of(), List.copyOf(failures));
    }

    @Test
    void exceptionsThatNobodyReadsAreReported() throws Exception {
        IllegalStateException fault = new IllegalStateException("bad");
        Runnable failing = () -> {
            throw fault;
        };
        executor.execute(failing);
        assertEquals(fault, failures.poll(WAIT_SECONDS, TimeUnit.SECONDS));
        executor.schedule(failing, 0, TimeUnit.NANOSECONDS);
        assertEquals(fault, failures.poll(WAIT_SECONDS, TimeUnit.SECONDS));
        ScheduledFuture<?> timer = executor.scheduleAtFixedRate(failing, 0, 1, TimeUnit.MILLISECONDS);
        assertEquals(fault, failures.poll(WAIT_SECONDS, TimeUnit.SECONDS));
        // As with the executors of the JDK, a failed timer has ended.
        assertThrows(ExecutionException.class, () -> timer.get(WAIT_SECONDS, TimeUnit.SECONDS));
        assertThrows(ExecutionException.class, () -> executor.submit(failing).get(WAIT_SECONDS, TimeUnit.SECONDS));
        assertEquals(List.of(), List.copyOf(failures));
    }

    @Test
    void theEndOfOneExtensionLeavesTheTasksOfOthers() throws Exception {
        Semaphore runs = new Semaphore(0);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        executor.execute(() -> {
            entered.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        assertTrue(entered.await(WAIT_SECONDS, TimeUnit.SECONDS));
        executor.execute(() -> failures.add(new IllegalStateException("a task after the end")));
        ScheduledFuture<?> timer = executor.scheduleAtFixedRate(
                () -> failures.add(new IllegalStateException("a timer after the end")), 0, 1, TimeUnit.MILLISECONDS);
        other.scheduleAtFixedRate(runs::release, 0, 1, TimeUnit.MILLISECONDS);
        executor.end();
        assertTrue(timer.isCancelled());
        assertTrue(executor.isShutdown());
        assertFalse(executor.isTerminated());
        released.countDown();
        assertTrue(runs.tryAcquire(3, WAIT_SECONDS, TimeUnit.SECONDS));
        assertEquals(List.of(), List.copyOf(failures));
        assertThrows(RejectedExecutionException.class, () -> executor.execute(() -> {}));
        assertThrows(RejectedExecutionException.class, () -> executor.schedule(() -> "", 1, TimeUnit.MILLISECONDS));
        assertTrue(executor.isTerminated());
        other.end();
    }

    @Test
    void anExtensionCannotStopTheThreads() {
        assertThrows(UnsupportedOperationException.class, executor::shutdown);
        assertThrows(UnsupportedOperationException.class, executor::shutdownNow);
        assertThrows(UnsupportedOperationException.class, () -> executor.awaitTermination(1, TimeUnit.SECONDS));
        assertFalse(threads.isShutdown());
    }

    @Test
    void theNumberOfTimersHasALimit() {
        ScheduledFuture<?> first = executor.schedule(() -> {}, 1, TimeUnit.DAYS);
        for (int i = 1; i < ExtensionExecutor.TASKS_MAX; i++) {
            executor.schedule(() -> {}, 1, TimeUnit.DAYS);
        }
        RejectedExecutionException refused =
                assertThrows(RejectedExecutionException.class, () -> executor.schedule(() -> {}, 1, TimeUnit.DAYS));
        assertEquals("extension test may have at most 10000 tasks", refused.getMessage());
        first.cancel(false);
        executor.schedule(() -> {}, 1, TimeUnit.DAYS).cancel(false);
        other.schedule(() -> {}, 1, TimeUnit.DAYS);
        executor.end();
        assertTrue(executor.isTerminated());
    }

    /** Tasks that the shared threads refuse leave nothing behind. */
    @Test
    void refusedTasksAreForgotten() {
        threads.shutdownNow();
        assertThrows(RejectedExecutionException.class, () -> executor.execute(() -> {}));
        assertThrows(RejectedExecutionException.class, () -> executor.schedule(() -> "", 1, TimeUnit.DAYS));
        executor.end();
        assertTrue(executor.isTerminated());
    }
}
