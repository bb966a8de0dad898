package io.millrace.launcher.process;

import java.util.Locale;

/**
 * The state of a worker process, as the launcher observes it. States change in this order; some may be skipped.
 */
public enum WorkerState {
    /** The process was started, but does not serve yet. */
    STARTING,
    /** The worker serves. */
    READY,
    /** The worker no longer accepts, and finishes its requests. */
    DRAINING,
    /** SIGKILL was sent. */
    DYING,
    /** The process has exited. */
    GONE;

    /** The name of the state in the admin API. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
