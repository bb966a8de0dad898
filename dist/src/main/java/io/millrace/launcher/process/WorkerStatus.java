package io.millrace.launcher.process;

import io.millrace.worker.control.ControlMessage;
import org.jspecify.annotations.Nullable;

/**
 * The worker as the outside may know it. Immutable.
 *
 * @param pid process id; -1 while none runs
 * @param generation counts the workers of this launcher; 0 before the first
 * @param restarts workers that took the place of a dead or hung one
 * @param ready what the worker said of itself; null while it is not ready
 * @param warmUp of the worker that is to take its place; null when none warms up
 * @param handsOver whether its successor is about to take over
 */
public record WorkerStatus(
        long pid,
        WorkerState state,
        long generation,
        long restarts,
        ControlMessage.@Nullable Ready ready,
        @Nullable WarmUp warmUp,
        boolean handsOver) {
    /** Before the first worker. */
    public static final WorkerStatus NONE = new WorkerStatus(-1, WorkerState.GONE, 0, 0, null);

    /** A worker beside which no other starts. */
    public WorkerStatus(
            long pid, WorkerState state, long generation, long restarts, ControlMessage.@Nullable Ready ready) {
        this(pid, state, generation, restarts, ready, null, false);
    }

    /**
     * A worker that warms up. Immutable.
     *
     * @param pid its process id
     * @param beganNanos when it began, as {@link System#nanoTime} has it
     * @param limitNanos the longest time that it takes
     */
    public record WarmUp(long pid, long beganNanos, long limitNanos) {}
}
