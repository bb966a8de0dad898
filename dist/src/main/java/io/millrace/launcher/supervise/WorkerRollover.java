package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerPlan;
import java.util.concurrent.CompletableFuture;

/**
 * A requested roll: the replacement of the current worker by a new one. Immutable.
 *
 * @param plan plan of the new worker
 * @param drainNanos drain timeout of the old worker
 * @param done completes when the new worker serves; fails with the reason if it does not
 */
record WorkerRollover(WorkerPlan plan, long drainNanos, CompletableFuture<Void> done) {}
