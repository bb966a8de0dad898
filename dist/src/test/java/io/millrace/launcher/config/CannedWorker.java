package io.millrace.launcher.config;

import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.process.WorkerStarter;
import io.millrace.launcher.supervise.ServingWorker;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.SettingChange;
import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers each change with the configured answer, when the test permits it. */
final class CannedWorker implements ServingWorker {
    final ConcurrentLinkedQueue<ConfigSource> reloaded = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<ConfigSource> rolled = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<Long> drainNanos = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<WorkerStarter> starters = new ConcurrentLinkedQueue<>();
    volatile List<SettingChange> answers = List.of();
    volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);
    volatile OptionalLong lastRoll = OptionalLong.empty();
    volatile String obstacle;
    volatile String rollObstacle;

    /** Number of following reloads that are not answered in time. */
    final AtomicInteger late = new AtomicInteger();

    @Override
    public void start(WorkerPlan first, long drainNanos) {}

    @Override
    public CompletableFuture<List<SettingChange>> reload(ConfigSource changed) {
        reloaded.add(changed);
        if (late.getAndDecrement() > 0) {
            return CompletableFuture.failedFuture(new TimeoutException("the worker did not answer within 30 s"));
        }
        return answer().thenApply(nothing -> answers);
    }

    @Override
    public CompletableFuture<Void> roll(WorkerPlan changed, long drains) {
        rolled.add(changed.config());
        drainNanos.add(drains);
        starters.add(changed.starter());
        return rollObstacle == null ? answer() : CompletableFuture.failedFuture(new IOException(rollObstacle));
    }

    @Override
    public OptionalLong lastRollNanos() {
        return lastRoll;
    }

    private CompletableFuture<Void> answer() {
        return obstacle == null ? gate : CompletableFuture.failedFuture(new IllegalStateException(obstacle));
    }
}
