package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerPlan;
import java.util.concurrent.CompletableFuture;

/**
 * A change of workers that is under way. Immutable.
 *
 * @param plan of the new worker
 * @param drainNanos for the old one
 * @param done completes when the new one serves, or says why it does not
 */
record WorkerRollover(WorkerPlan plan, long drainNanos, CompletableFuture<Void> done) {}
