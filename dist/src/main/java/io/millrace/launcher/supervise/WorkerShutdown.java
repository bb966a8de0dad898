package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerProcess;
import io.millrace.launcher.process.WorkerState;
import java.util.concurrent.CompletableFuture;

/**
 * The shutdown of all workers, by draining or killing them. No worker is started after a shutdown has begun.
 *
 * <p>Not thread-safe; confined to the event loop, except {@link #done()}.
 */
final class WorkerShutdown {
    private final WorkerRegistry workers;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private boolean begun;

    WorkerShutdown(WorkerRegistry workers) {
        this.workers = workers;
    }

    /** Returns true after the first {@link #drain} or {@link #kill}. */
    boolean hasBegun() {
        return begun;
    }

    /** Returns the future that the supervisor completes when the last worker has exited. */
    CompletableFuture<Void> done() {
        return done;
    }

    /** Drains the workers that have requests to finish, and kills those that are starting. */
    void drain(long drainNanos) {
        begun = true;
        for (WorkerProcess worker : workers.all()) {
            if (mayHaveRequests(worker)) {
                worker.drain(drainNanos);
            } else if (worker.state() == WorkerState.STARTING) {
                worker.kill();
            }
        }
    }

    /** Kills all workers. */
    void kill() {
        begun = true;
        workers.all().forEach(WorkerProcess::kill);
    }

    /**
     * Returns true if the worker may have requests to finish. A starting worker has none, unless it is an adopted
     * worker that has not reported {@code Ready} yet.
     */
    private static boolean mayHaveRequests(WorkerProcess worker) {
        return switch (worker.state()) {
            case READY, DRAINING -> true;
            case STARTING -> worker.plan() == null && worker.hasConnected();
            case DYING, GONE -> false;
        };
    }
}
