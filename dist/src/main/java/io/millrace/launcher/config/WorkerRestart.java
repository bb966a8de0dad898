package io.millrace.launcher.config;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.status.RestartResource.RestartReport;
import io.millrace.proxy.admin.status.RestartResource.Restarter;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The restart of the worker on request of the operator. A new worker with the same configuration replaces the running
 * one. The restart is queued behind configuration changes. Thread-safe.
 */
public final class WorkerRestart implements Restarter {
    private final ConfigChanges changes;
    private final RunningConfig running;
    private final Supplier<WorkerStatus> worker;

    /** @param worker returns the status of the current worker */
    public WorkerRestart(ConfigChanges changes, RunningConfig running, Supplier<WorkerStatus> worker) {
        this.changes = changes;
        this.running = running;
        this.worker = worker;
    }

    @Override
    public CompletionStage<RestartReport> restart() {
        long askedNanos = System.nanoTime();
        return changes.runSerially(() -> replaced(askedNanos)).exceptionally(failure -> {
            throw new CompletionException(reasonOf(failure));
        });
    }

    private RestartReport replaced(long askedNanos) {
        long before = pid();
        try {
            running.restart();
        } catch (LaunchException e) {
            throw new CompletionException(e);
        }
        return new RestartReport(before, pid(), TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - askedNanos));
    }

    private long pid() {
        return Math.max(0, worker.get().pid());
    }

    private static AdminException reasonOf(Throwable failure) {
        Throwable cause = failure.getCause();
        Throwable root = failure instanceof CompletionException && cause != null ? cause : failure;
        return root instanceof AdminException known
                ? known
                : new AdminException(503, "restart-failed", "the worker was not replaced: " + root.getMessage());
    }
}
