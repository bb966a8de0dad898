package io.millrace.proxy.admin.purge;

import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.purge.PurgeControl.PurgeView;
import io.millrace.proxy.admin.resource.AdminCaller;
import java.util.concurrent.CompletionStage;

/** Counts what a purge would cover. Thread-safe; never blocks. */
@FunctionalInterface
public interface DryRunSource {
    /**
     * Begins to count.
     *
     * @return completes within about a second: with the whole count, or with what was counted so far
     */
    CompletionStage<PurgeView> dryRun(Scope scope, AdminCaller caller);
}
