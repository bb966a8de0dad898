package io.millrace.launcher.process;

import io.millrace.worker.control.ControlMessage;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of the worker's state for other threads and the admin API. Immutable.
 *
 * @param pid process id; -1 while no worker runs
 * @param generation number of the worker, or of the latest one while no worker runs; 0 before the first
 * @param restarts number of dead or hung workers that were replaced
 * @param ready the {@code Ready} message of the worker; null before it is ready
 * @param warmUp warm-up in progress of the next worker; null if there is none
 * @param handsOver whether a hand-over to the next worker is in progress
 */
public record WorkerStatus(
        long pid,
        WorkerState state,
        long generation,
        long restarts,
        ControlMessage.@Nullable Ready ready,
        @Nullable WarmUp warmUp,
        boolean handsOver) {
    /** The status before the first worker. */
    public static final WorkerStatus NONE = new WorkerStatus(-1, WorkerState.GONE, 0, 0, null);

    /** Creates the status of a worker without a successor. */
    public WorkerStatus(
            long pid, WorkerState state, long generation, long restarts, ControlMessage.@Nullable Ready ready) {
        this(pid, state, generation, restarts, ready, null, false);
    }

    /**
     * A worker that warms up. Immutable.
     *
     * @param pid process id
     * @param beganNanos start of the warm-up, in {@link System#nanoTime}
     * @param limitNanos time limit of the warm-up
     */
    public record WarmUp(long pid, long beganNanos, long limitNanos) {}
}
