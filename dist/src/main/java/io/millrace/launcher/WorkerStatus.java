package io.millrace.launcher;

import io.millrace.worker.control.ControlMessage;
import org.jspecify.annotations.Nullable;

/**
 * The worker as the outside may know it. Immutable.
 *
 * @param pid process id; -1 while none runs
 * @param generation counts the workers of this launcher; 0 before the first
 * @param restarts workers that took the place of a dead or hung one
 * @param ready what the worker said of itself; null while it is not ready
 */
record WorkerStatus(long pid, WorkerState state, long generation, long restarts, ControlMessage.@Nullable Ready ready) {
    /** Before the first worker. */
    static final WorkerStatus NONE = new WorkerStatus(-1, WorkerState.GONE, 0, 0, null);
}
