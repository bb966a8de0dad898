package io.millrace.store.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.disk.VolumeThread.BackgroundWork;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class VolumeThreadTest {
    private final List<String> steps = new ArrayList<>();
    private final CountDownLatch done = new CountDownLatch(1);

    private BackgroundWork work(String name, int times) {
        int[] left = {times};
        return () -> {
            steps.add(name);
            return --left[0] > 0 ? BackgroundWork.AT_ONCE : BackgroundWork.IDLE;
        };
    }

    /** Number of tasks that were added to a batch and not yet written. */
    private int gathered;

    private void writeBatch() {
        if (gathered > 0) {
            steps.add("batch of " + gathered);
            gathered = 0;
        }
    }

    private static VolumeThread.Gathering gathering(Runnable task) {
        return task::run;
    }

    @Test
    void queuedTasksAreBatchedAndWrittenBeforeOtherTasks() throws InterruptedException {
        VolumeThread thread = new VolumeThread("t", 16, List.of(), this::writeBatch);
        for (int i = 0; i < 3; i++) {
            thread.execute(gathering(() -> gathered++));
        }
        thread.execute(() -> steps.add("task"));
        thread.execute(gathering(() -> gathered++));
        thread.execute(gathering(() -> {
            gathered++;
            done.countDown();
        }));
        thread.start();
        assertTrue(done.await(10, TimeUnit.SECONDS));
        stop(thread);
        assertEquals(List.of("batch of 3", "task", "batch of 2", "end"), steps);
    }

    @Test
    void oneAloneIsWrittenAtOnce() throws InterruptedException {
        VolumeThread thread = new VolumeThread("t", 16, List.of(), () -> {
            if (gathered > 0) {
                writeBatch();
                done.countDown();
            }
        });
        thread.start();
        thread.execute(gathering(() -> gathered++));
        assertTrue(done.await(10, TimeUnit.SECONDS), "nothing comes after it, and it is written all the same");
        stop(thread);
        assertEquals(List.of("batch of 1", "end"), steps);
    }

    @Test
    void whileTheThreadRestsGatheringTasksComeTogetherAndAnyOtherEndsTheRest() throws InterruptedException {
        VolumeThread thread = threadAwaitingBatch();
        thread.execute(gathering(() -> gathered++));
        thread.execute(gathering(() -> gathered++));
        assertTrue(thread.isAwaitingBatch(), "they have woken nobody");
        thread.execute(done::countDown);
        assertTrue(done.await(10, TimeUnit.SECONDS), "the batch delay of an hour did not end");
        stop(thread);
        assertEquals(List.of("batch of 1", "batch of 2", "end"), steps);
    }

    @Test
    void aTaskBeyondTheQueueEndsThePause() throws InterruptedException {
        VolumeThread thread = threadAwaitingBatch();
        assertTrue(thread.executeBeyond(done::countDown, 1));
        assertTrue(done.await(10, TimeUnit.SECONDS), "the batch delay of an hour did not end");
        stop(thread);
    }

    @Test
    void theEndEndsTheBatchDelay() throws InterruptedException {
        stop(threadAwaitingBatch());
        assertEquals(List.of("batch of 1", "end"), steps);
    }

    /** Returns a thread that has run a batched task and then waits for an hour. */
    private VolumeThread threadAwaitingBatch() {
        VolumeThread thread = new VolumeThread("t", 16, List.of(), this::writeBatch, TimeUnit.HOURS.toNanos(1));
        thread.start();
        thread.execute(gathering(() -> gathered++));
        while (!thread.isAwaitingBatch()) {
            Thread.onSpinWait();
        }
        return thread;
    }

    private void stop(VolumeThread thread) throws InterruptedException {
        thread.stop(() -> steps.add("end"));
    }

    @Test
    void worksTakeTurns() throws InterruptedException {
        VolumeThread thread = new VolumeThread(
                "t",
                8,
                List.of(work("a", 3), work("b", 2), () -> {
                    if (steps.size() < 5) {
                        return BackgroundWork.AT_ONCE;
                    }
                    done.countDown();
                    return BackgroundWork.IDLE;
                }),
                this::writeBatch);
        thread.start();
        assertTrue(done.await(10, TimeUnit.SECONDS));
        stop(thread);
        assertEquals(List.of("a", "b", "a", "b", "a", "end"), steps);
    }

    @Test
    void idleWorkIsAskedAgainAfterATask() throws InterruptedException {
        CountDownLatch again = new CountDownLatch(2);
        VolumeThread thread = new VolumeThread(
                "t",
                8,
                List.of(() -> {
                    done.countDown();
                    again.countDown();
                    return BackgroundWork.IDLE;
                }),
                this::writeBatch);
        thread.start();
        assertTrue(done.await(10, TimeUnit.SECONDS));
        thread.execute(() -> steps.add("task"));
        assertTrue(again.await(10, TimeUnit.SECONDS));
        stop(thread);
        assertEquals(List.of("task", "end"), steps);
    }

    @Test
    void workReturnsAfterItsTimeWithoutAnyTask() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(3);
        VolumeThread thread = new VolumeThread(
                "t",
                8,
                List.of(() -> {
                    asked.countDown();
                    return TimeUnit.MILLISECONDS.toNanos(1);
                }),
                this::writeBatch);
        thread.start();
        assertTrue(asked.await(10, TimeUnit.SECONDS));
        stop(thread);
    }

    @Test
    void failedWorkIsAbandonedAndTasksContinue() throws InterruptedException {
        VolumeThread thread = new VolumeThread(
                "t",
                8,
                List.of(() -> {
                    steps.add("fails");
                    throw new IllegalStateException("on purpose");
                }),
                this::writeBatch);
        thread.start();
        thread.execute(() -> steps.add("task"));
        thread.execute(done::countDown);
        assertTrue(done.await(10, TimeUnit.SECONDS));
        stop(thread);
        assertEquals(1, steps.stream().filter("fails"::equals).count());
        assertTrue(steps.contains("task"));
    }
}
