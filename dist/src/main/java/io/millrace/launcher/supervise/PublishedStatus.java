package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerProcess;
import io.millrace.launcher.process.WorkerState;
import io.millrace.launcher.process.WorkerStatus;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The status of the workers for other threads, and the duration of the last roll. A roll replaces the worker by a new
 * one.
 *
 * <p>Changed on the event loop; {@link #status} and {@link #lastRollNanos} may be called on any thread.
 */
final class PublishedStatus {
    private Consumer<WorkerStatus> onWarmUp = changed -> {};
    private long restarts;
    private long rollBeganNanos;
    private volatile long lastRollNanos = -1;
    private volatile WorkerStatus status = WorkerStatus.NONE;

    /** Sets the listener that is called when a warm-up begins or ends. */
    void onWarmUp(Consumer<WorkerStatus> changed) {
        onWarmUp = changed;
    }

    WorkerStatus status() {
        return status;
    }

    /** Returns the duration of the last roll in nanoseconds; negative before the first. */
    long lastRollNanos() {
        return lastRollNanos;
    }

    /** Counts a restart after the death of a worker. */
    void restarted() {
        restarts++;
    }

    void rollBegan(long nowNanos) {
        rollBeganNanos = nowNanos;
    }

    void rollEnded(long nowNanos) {
        lastRollNanos = nowNanos - rollBeganNanos;
    }

    /**
     * Publishes the status.
     *
     * @param candidate the new worker of a roll in progress; null for none
     * @param generation number of the latest worker, which is published while there is no current worker
     * @param handsOver whether a hand-over of the store to the candidate is in progress
     */
    void publish(
            @Nullable WorkerProcess current, @Nullable WorkerProcess candidate, long generation, boolean handsOver) {
        WorkerStatus.WarmUp warmUp = candidate == null ? null : candidate.warmUp();
        boolean changed = !Objects.equals(warmUp, status.warmUp());
        status = current == null
                ? new WorkerStatus(-1, WorkerState.GONE, generation, restarts, null, warmUp, false)
                : new WorkerStatus(
                        current.pid(),
                        current.state(),
                        current.generation(),
                        restarts,
                        current.ready(),
                        warmUp,
                        handsOver);
        if (changed) {
            onWarmUp.accept(status);
        }
    }
}
