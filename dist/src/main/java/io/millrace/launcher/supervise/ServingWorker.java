package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerPlan;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.SettingChange;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** The worker as its configuration sees it. Thread-safe. */
public interface ServingWorker {
    /**
     * Serves from now on.
     *
     * @param first what to serve; its sockets' ownership goes along
     * @param drainNanos for a worker that serves already
     */
    void start(WorkerPlan first, long drainNanos);

    /**
     * Passes a configuration to the worker and returns the outcome of each setting. Without a worker, the next one
     * starts with it.
     */
    CompletableFuture<List<SettingChange>> reload(ConfigSource changed);

    /** How long the last roll took; empty before the first. */
    default OptionalLong lastRollNanos() {
        return OptionalLong.empty();
    }

    /** Replaces the worker by one with another plan; fails when that one does not come up, and the old plan stays. */
    CompletableFuture<Void> roll(WorkerPlan changed, long drainNanos);
}
