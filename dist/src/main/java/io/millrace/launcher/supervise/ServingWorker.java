package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerPlan;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.SettingChange;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** The operations on the worker that configuration changes need. Thread-safe. */
public interface ServingWorker {
    /**
     * Starts the first worker, or a successor of the adopted worker. The adopted worker ran before this launcher
     * started, and the launcher took it over.
     *
     * @param first plan of the worker; takes ownership of its sockets
     * @param drainNanos drain timeout of the adopted worker, in nanoseconds
     */
    void start(WorkerPlan first, long drainNanos);

    /**
     * Sends a configuration to the worker, and returns the outcome of each setting. If no worker runs, the next worker
     * starts with the configuration.
     */
    CompletableFuture<List<SettingChange>> reload(ConfigSource changed);

    /** Duration of the last roll in nanoseconds; empty before the first. */
    default OptionalLong lastRollNanos() {
        return OptionalLong.empty();
    }

    /**
     * Rolls the worker: replaces it by a new worker with another plan. Fails if the new worker does not become ready;
     * the old plan then stays in force.
     */
    CompletableFuture<Void> roll(WorkerPlan changed, long drainNanos);
}
