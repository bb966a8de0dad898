package io.millrace.launcher.process;

import java.util.Locale;

/** What a worker process is doing, as the launcher knows it. A worker goes through them in this order, and may skip. */
public enum WorkerState {
    /** Started, and not ready yet. */
    STARTING,
    /** Serves. */
    READY,
    /** Accepts no more and finishes what is in flight. */
    DRAINING,
    /** Was sent SIGKILL. */
    DYING,
    /** Has exited. */
    GONE;

    /** The word of the admin API. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
