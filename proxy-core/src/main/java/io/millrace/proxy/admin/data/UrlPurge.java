package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.PurgeService.PurgeReport;
import io.millrace.proxy.admin.purge.PurgeControl.Count;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.exchange.settings.InvalidationScopes;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.PurgeRequest;
import io.millrace.proxy.purge.fleet.FleetOutbox;
import io.millrace.proxy.purge.fleet.FleetPurge;
import io.millrace.proxy.purge.record.PurgeHistory;
import io.millrace.proxy.purge.record.PurgeRecord;
import io.millrace.proxy.purge.record.PurgeState;
import io.millrace.proxy.remap.RemapTable;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Removes the stored variants of one URL, and adds the record of this purge. A URL with the default port is removed in
 * both schemes, http and https.
 *
 * <p>Used once. Thread-safe.
 */
final class UrlPurge {
    private final ProxyView proxy;
    private final PurgeCounts counts;
    private final TargetUri target;
    /** The URLs to remove: two URLs, http and https, if the port is the default port; else one. */
    private final List<TargetUri> urls;

    private final PurgeHistory history;
    private final PurgeRecord record;
    private final FleetPurge fleetPurge;

    UrlPurge(ProxyView proxy, PurgeCounts counts, TargetUri target, AdminCaller caller) {
        this.proxy = proxy;
        this.counts = counts;
        this.target = target;
        this.history = proxy.shared().purges();
        this.urls = PurgeRequest.urls(target);
        this.fleetPurge = FleetPurge.of(
                FleetPurge.Action.URL, urls.stream().map(TargetUri::asString).toList(), false);
        this.record = PurgeRecord.done(
                history.newRemovalId(),
                history.nowMillis(),
                ScopedPurges.client(caller),
                ScopedPurges.word(Kind.URL),
                target.asString(),
                null,
                false);
    }

    /**
     * Purges the URL.
     *
     * @param counted whether to count the covered objects first, for at most one slice of {@link PurgeCount}, about 200
     *     ms
     * @return completes when the purge and its record are durable
     */
    CompletionStage<PurgeReport> run(boolean counted) {
        try {
            FleetScopes.check(history.fleet(), fleetPurge);
        } catch (AdminException e) {
            return CompletableFuture.failedFuture(e);
        }
        if (!counted) {
            return purge(null);
        }
        // The count comes first, because removed objects cannot be counted.
        PurgeCount count = PurgeCount.ofDryRun(
                proxy.store(),
                proxy.shared().invalidator(),
                InvalidationScopes.urls(urls, proxy.settings().remap()));
        try {
            counts.start(record, count);
        } catch (AdminException e) {
            // Too many counts are in progress: the purge does not wait for them.
            return purge(null);
        }
        // The purge waits for one slice at most.
        count.firstSlice().thenAccept(PurgeCount::cancel);
        return count.end().thenCompose(ended -> purge(ended.isWhole() ? ended.count() : null));
    }

    private CompletionStage<PurgeReport> purge(@Nullable Count count) {
        CompletableFuture<PurgeReport> report = new CompletableFuture<>();
        remove(0, false, null, count, report);
        return report;
    }

    /**
     * Removes the URLs of the list one after the other, beginning at an index. After a failure, it still removes the
     * others.
     */
    private void remove(
            int index,
            boolean wasFound,
            @Nullable Exception earlierFailure,
            @Nullable Count count,
            CompletableFuture<PurgeReport> report) {
        ServingLoop loop = proxy.loops().get(0);
        proxy.shared().purger().purge(urls.get(index), loop.loop(), (isFound, problem) -> {
            boolean wasPresent = wasFound || isFound;
            Exception failure = earlierFailure == null ? problem : earlierFailure;
            if (index + 1 < urls.size()) {
                remove(index + 1, wasPresent, failure, count, report);
                return;
            }
            if (failure != null) {
                loop.counters().increment(Counter.PURGES_FAILED);
                history.add(record.in(PurgeState.FAILED), Runnable::run, () -> {});
                report.completeExceptionally(new AdminException(
                        500,
                        "purge-not-durable",
                        "purged from this process, but the storage could not be written: " + failure.getMessage()));
                return;
            }
            loop.counters().increment(wasPresent ? Counter.PURGES_FOUND : Counter.PURGES_ABSENT);
            PurgeRecord recordToAdd = record;
            if (count != null) {
                recordToAdd = record.counted(count.objects(), count.bytes());
            } else if (!wasPresent) {
                recordToAdd = record.counted(0, 0);
            }
            String note = wasPresent ? InvalidationScopes.noteOnPort(target) : noteOnAbsent();
            String detail = (wasPresent ? "every stored variant is gone" : "nothing was stored")
                    + (note.isEmpty() ? "" : "; " + note);
            PurgeReport answer = new PurgeReport(
                    target.asString(),
                    wasPresent,
                    detail,
                    record.id(),
                    recordToAdd.objects(),
                    history.fleet().isActive() ? FleetOutbox.PENDING : null);
            history.add(recordToAdd, fleetPurge, loop.loop(), notQueued -> {
                if (notQueued == null) {
                    report.complete(answer);
                } else {
                    report.completeExceptionally(FleetScopes.notQueued(notQueued));
                }
            });
        });
    }

    /** Returns a remark on a URL that was not stored because of a wrong host or port; empty for none. */
    private String noteOnAbsent() {
        RemapTable table = proxy.settings().remap();
        return InvalidationScopes.noteOnHost(target, table.rulesUnder(target), table.forwards());
    }
}
