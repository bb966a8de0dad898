package io.millrace.proxy.admin.purge;

import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.purge.PurgeControl.PurgeView;
import io.millrace.proxy.admin.resource.AdminCaller;
import java.util.concurrent.CompletionStage;

/** Counts the objects that a purge would cover. Thread-safe; never blocks. */
@FunctionalInterface
public interface DryRunSource {
    /**
     * Starts a count.
     *
     * @return completes after about one second at most, with the whole count or the count so far
     */
    CompletionStage<PurgeView> dryRun(Scope scope, AdminCaller caller);
}
