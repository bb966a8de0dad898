package io.millrace.launcher;

import io.millrace.proxy.admin.AdminException;
import io.millrace.proxy.admin.RestartResource.RestartReport;
import io.millrace.proxy.admin.RestartResource.Restarter;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** An operator's restart: a roll to the plan that holds already. Thread-safe. */
final class WorkerRestart implements Restarter {
    private final Supervisor supervisor;
    private final RunningConfig running;

    WorkerRestart(Supervisor supervisor, RunningConfig running) {
        this.supervisor = supervisor;
        this.running = running;
    }

    @Override
    public CompletionStage<RestartReport> restart() {
        long before = Math.max(0, supervisor.status().pid());
        long begunNanos = System.nanoTime();
        return supervisor.roll(running.plan(), running.drainNanos()).handle((nothing, failure) -> {
            if (failure != null) {
                throw new CompletionException(new AdminException(
                        503,
                        "restart-failed",
                        "the worker was not replaced: " + rootOf(failure).getMessage()));
            }
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos);
            return new RestartReport(before, Math.max(0, supervisor.status().pid()), millis);
        });
    }

    private static Throwable rootOf(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }
}
