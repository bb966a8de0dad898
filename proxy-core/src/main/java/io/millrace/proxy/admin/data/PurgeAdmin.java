package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.cache.PurgeService.PurgeReport;
import io.millrace.proxy.admin.purge.DryRunSource;
import io.millrace.proxy.admin.purge.PurgeControl;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetPurge;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.purge.record.PurgeClient;
import io.millrace.proxy.purge.record.PurgeHistory;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.proxy.purge.record.PurgeRecord;
import io.millrace.proxy.purge.record.PurgeState;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lists purges, undoes them and counts their objects for the admin API.
 *
 * <p>Thread-safe.
 */
public final class PurgeAdmin implements PurgeControl, DryRunSource {
    private final ProxyView proxy;
    private final ScopedPurges scoped;
    private final PurgeCounts purgeCounts = new PurgeCounts();

    public PurgeAdmin(ProxyView proxy) {
        this.proxy = proxy;
        this.scoped = new ScopedPurges(proxy, purgeCounts);
    }

    /** Returns the service for purges of scopes, which uses the same counts. */
    public ScopedPurges scoped() {
        return scoped;
    }

    /** Returns the counts of this process. */
    PurgeCounts counts() {
        return purgeCounts;
    }

    private PurgeHistory history() {
        return proxy.shared().purges();
    }

    private Invalidator invalidator() {
        return proxy.shared().invalidator();
    }

    @Override
    public List<PurgeView> latest(@Nullable String before, int limit) throws AdminException {
        List<PurgeRecord> records;
        try {
            records = history().latest(before, limit);
        } catch (IOException e) {
            throw unreadable(e);
        }
        if (records == null) {
            throw unknown(String.valueOf(before));
        }
        List<PurgeView> views = new ArrayList<>(records.size());
        for (PurgeRecord record : records) {
            views.add(view(record));
        }
        return views;
    }

    private AdminException unreadable(IOException e) {
        return new AdminException(500, "no-records", history() + ": the records of purges cannot be read: " + e);
    }

    private static AdminException unknown(String id) {
        return new AdminException(
                404,
                "unknown-purge",
                "no purge has the identifier " + id + "; "
                        + (PurgeId.isDryRun(id)
                                ? "each worker process keeps only its latest " + PurgeCounts.KEPT_MAX
                                        + " counts of dry runs and purges"
                                : "purge.history limits the number of records"));
    }

    @Override
    public PurgeView find(String id) throws AdminException {
        PurgeCounts.Counted counted = purgeCounts.find(id);
        if (counted != null && isDryRun(counted.record())) {
            return view(counted.record());
        }
        return view(record(id));
    }

    private PurgeRecord record(String id) throws AdminException {
        try {
            PurgeRecord record = history().find(id);
            record = record == null ? unrecorded(id) : record;
            if (record == null) {
                throw unknown(id);
            }
            return record;
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /**
     * Returns a new record for a purge that is in force but has no record. Returns null if there is no such purge. A
     * purge has no record if the process that executed it ended after it wrote the journal entry and before it wrote
     * the record. With the new record, the purge can be undone or cancelled.
     */
    private @Nullable PurgeRecord unrecorded(String id) {
        long stamp = PurgeId.stamp(id);
        if (stamp == 0 || !PurgeId.ofStamp(stamp).equals(id)) {
            return null;
        }
        for (PurgedPattern pattern : invalidator().patterns()) {
            if (pattern.stamp() == stamp) {
                return unrecorded(id, ScopedPurges.word(Kind.PATTERN), pattern.text(), pattern.isSoft());
            }
        }
        return invalidator().isUndoable(stamp) ? unrecorded(id, PurgeRecord.UNKNOWN, "", true) : null;
    }

    private static PurgeRecord unrecorded(String id, String scope, String target, boolean soft) {
        long millis = PurgeId.stamp(id) >>> PurgeId.TIME_SHIFT;
        return PurgeRecord.done(id, millis, PurgeClient.UNKNOWN, scope, target, null, soft);
    }

    /**
     * Stores a record that {@link #unrecorded} has created, which has an unknown client. Called before the purge is
     * changed, because the change is added to the record.
     */
    private void addUnrecorded(PurgeRecord record) {
        if (record.client().equals(PurgeClient.UNKNOWN)) {
            history().add(record, Runnable::run, () -> {});
        }
    }

    private static boolean isDryRun(PurgeRecord record) {
        return PurgeId.isDryRun(record.id());
    }

    private PurgeView view(PurgeRecord record) {
        long stamp = PurgeId.stamp(record.id());
        // A process may end after it undid or cancelled a purge and before it recorded the change. Then the record
        // still has the old state.
        boolean isUndone = record.state() != PurgeState.CANCELLED
                && stamp > 0
                && invalidator().isUndone(stamp);
        PurgeRecord present = isUndone ? record.in(record.soft() ? PurgeState.UNDONE : PurgeState.CANCELLED) : record;
        boolean undoable = present.soft() && !isUndone && invalidator().isUndoable(stamp);
        long until = undoable ? invalidator().undoableUntilMillis(stamp) : 0;
        String sweep = sweep(present, undoable);
        PurgeCounts.Counted counted = purgeCounts.find(record.id());
        if (counted == null) {
            return new PurgeView(present, until, null, sweep);
        }
        Count count = counted.count().count();
        return new PurgeView(withCount(present, counted.count(), count), until, count, sweep);
    }

    /**
     * Returns the progress of the sweep (background removal) of a purge by pattern. Returns null if there is no sweep.
     */
    private @Nullable String sweep(PurgeRecord record, boolean undoable) {
        if (!record.scope().equals(ScopedPurges.word(Kind.PATTERN)) || isDryRun(record)) {
            return null;
        }
        if (!invalidator().isLive(PurgeId.stamp(record.id()))) {
            // Lookups do not use the pattern. If the purge can still be undone, a purge of everything has replaced the
            // pattern, and no sweep is needed.
            return undoable ? "covered" : record.state() == PurgeState.DONE ? "done" : null;
        }
        return undoable ? "waiting" : "running";
    }

    /** Returns a record with the state and the numbers of its count. */
    static PurgeRecord withCount(PurgeRecord record, PurgeCount counting, Count count) {
        PurgeRecord counted = record.objects() < 0 ? record.counted(count.objects(), count.bytes()) : record;
        if (isDryRun(record)) {
            return counted.in(
                    !count.isOver()
                            ? PurgeState.COUNTING
                            : counting.isWhole() ? PurgeState.DONE : PurgeState.CANCELLED);
        }
        if (!count.isOver()) {
            return record.state() == PurgeState.DONE ? counted.in(PurgeState.COUNTING) : counted;
        }
        return counting.isWhole() ? counted : record;
    }

    @Override
    public CompletionStage<PurgeView> undo(String id, AdminCaller caller) throws AdminException {
        if (PurgeId.isDryRun(id)) {
            throw new AdminException(409, "not-undoable", id + " is a dry run, which purged nothing: nothing to undo");
        }
        PurgeRecord record = record(id);
        long stamp = PurgeId.stamp(id);
        checkUndo(record, stamp);
        FleetPurge change = change(FleetPurge.Action.UNDO, id);
        FleetScopes.check(history().fleet(), change);
        addUnrecorded(record);
        ServingLoop loop = proxy.loops().get(0);
        CompletableFuture<PurgeView> view = new CompletableFuture<>();
        boolean begun = invalidator().undo(stamp, loop.loop(), failure -> {
            if (failure != null) {
                loop.counters().increment(Counter.PURGES_FAILED);
                view.completeExceptionally(new AdminException(
                        500,
                        "undo-not-durable",
                        "undone in this process, but the storage could not be written: " + failure.getMessage()));
                return;
            }
            loop.counters().increment(Counter.PURGES_UNDONE);
            PurgeView changed = new PurgeView(record.in(PurgeState.UNDONE), 0, null, null);
            history()
                    .undone(
                            id,
                            ScopedPurges.client(caller),
                            Runnable::run,
                            () -> queueForFleet(change, "undo-" + id, loop, view, changed));
        });
        if (!begun) {
            throw new AdminException(
                    409,
                    "not-undoable",
                    "purge " + id + " was undone by another request meanwhile; nothing was changed");
        }
        return view;
    }

    private void checkUndo(PurgeRecord record, long stamp) throws AdminException {
        String id = record.id();
        if (record.state() == PurgeState.CANCELLED) {
            throw new AdminException(409, "not-undoable", "purge " + id + " is cancelled; nothing was changed");
        }
        if (record.state() == PurgeState.UNDONE || (stamp > 0 && invalidator().isUndone(stamp))) {
            throw new AdminException(409, "already-undone", "purge " + id + " is undone; nothing was changed");
        }
        if (!record.soft()) {
            throw new AdminException(
                    409, "not-undoable", "purge " + id + " is hard and cannot be undone; nothing was changed");
        }
        if (invalidator().isUndoable(stamp)) {
            return;
        }
        long windowMillis = proxy.config().purges().undoWindowMillis();
        if (invalidator().undoableUntilMillis(stamp) <= history().nowMillis()) {
            throw new AdminException(
                    409,
                    "undo-window",
                    "purge " + id + " is older than purge.undo_window (" + text(windowMillis)
                            + "); nothing was changed");
        }
        if (record.state() == PurgeState.FAILED) {
            throw new AdminException(
                    409, "not-undoable", "purge " + id + " was not durable and is not in force; nothing was changed");
        }
        throw new AdminException(
                409,
                "not-undoable",
                "purge " + id + " cannot be undone any more, because too many purges followed; nothing was changed");
    }

    private static String text(long millis) {
        return Duration.ofMillis(millis).toString().substring(2).toLowerCase(Locale.ROOT);
    }

    @Override
    public CompletionStage<PurgeView> cancel(String id, AdminCaller caller) throws AdminException {
        PurgeCounts.Counted counted = purgeCounts.find(id);
        if (invalidator().isLive(PurgeId.stamp(id))) {
            PurgeRecord record = record(id);
            FleetScopes.check(history().fleet(), change(FleetPurge.Action.CANCEL, id));
            addUnrecorded(record);
            if (counted != null) {
                counted.count().cancel();
            }
            return cancelPattern(record, caller);
        }
        if (counted == null || counted.count().isOver()) {
            PurgeView view = find(id);
            throw new AdminException(
                    409,
                    "not-in-progress",
                    (PurgeId.isDryRun(id) ? "dry run " : "purge ") + id + " is "
                            + view.record().state().text() + ": no count and no sweep is in progress");
        }
        counted.count().cancel();
        return CompletableFuture.completedFuture(view(counted.record()));
    }

    /**
     * Returns the message that undoes or cancels a purge on other nodes. They know the purge by its shared identifier.
     */
    private FleetPurge change(FleetPurge.Action action, String id) {
        String sharedId = invalidator().fleetId(PurgeId.stamp(id));
        String node = String.valueOf(history().fleet().node());
        return FleetPurge.change(action, sharedId == null ? FleetMessage.sharedId(node, id) : sharedId);
    }

    /** Queues a change for the fleet. Completes the view when the queued change is durable. */
    private void queueForFleet(
            FleetPurge change, String localId, ServingLoop loop, CompletableFuture<PurgeView> view, PurgeView changed) {
        history().fleet().add(change, localId, loop.loop(), notQueued -> {
            if (notQueued == null) {
                view.complete(changed);
            } else {
                view.completeExceptionally(FleetScopes.notQueued(notQueued));
            }
        });
    }

    private CompletionStage<PurgeView> cancelPattern(PurgeRecord record, AdminCaller caller) throws AdminException {
        String id = record.id();
        FleetPurge change = change(FleetPurge.Action.CANCEL, id);
        ServingLoop loop = proxy.loops().get(0);
        CompletableFuture<PurgeView> view = new CompletableFuture<>();
        boolean begun = invalidator().cancel(PurgeId.stamp(id), loop.loop(), failure -> {
            if (failure != null) {
                loop.counters().increment(Counter.PURGES_FAILED);
                view.completeExceptionally(new AdminException(
                        500,
                        "cancel-not-durable",
                        "cancelled in this process, but the storage could not be written: " + failure.getMessage()));
                return;
            }
            loop.counters().increment(Counter.PURGES_CANCELLED);
            PurgeView changed = new PurgeView(record.in(PurgeState.CANCELLED), 0, null, null);
            history()
                    .cancelled(
                            id,
                            ScopedPurges.client(caller),
                            Runnable::run,
                            () -> queueForFleet(change, "cancel-" + id, loop, view, changed));
        });
        if (!begun) {
            throw new AdminException(409, "not-in-progress", "purge " + id + " has just ended; nothing was changed");
        }
        return view;
    }

    /**
     * Removes the stored responses of a URL.
     *
     * @param counts whether to count the covered objects first
     * @return completes when the purge is durable; with an {@link AdminException} for an invalid URL
     */
    public CompletionStage<PurgeReport> purgeUrl(String url, AdminCaller caller, boolean counts) {
        if (!(TargetUri.parseAbsolute(url) instanceof TargetUri target)) {
            return CompletableFuture.failedFuture(DataPlaneAdmin.notUrl(url));
        }
        try {
            PurgePermission.checkUrl(caller, target, proxy.settings().remap());
        } catch (AdminException e) {
            return CompletableFuture.failedFuture(e);
        }
        return new UrlPurge(proxy, purgeCounts, target, caller).run(counts);
    }

    @Override
    public CompletionStage<PurgeView> dryRun(Scope scope, AdminCaller caller) {
        try {
            DryRun run = begin(scope, caller);
            return run.count().firstSlice().thenCompose(counted -> answer(counted, () -> view(run.record())));
        } catch (AdminException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Counts the objects that a purge would cover.
     *
     * @return completes with the whole count
     */
    public CompletionStage<Count> count(Scope scope, AdminCaller caller) {
        try {
            return begin(scope, caller).count().end().thenCompose(counted -> answer(counted, counted::count));
        } catch (AdminException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** A dry run in progress. */
    private record DryRun(PurgeRecord record, PurgeCount count) {}

    private DryRun begin(Scope scope, AdminCaller caller) throws AdminException {
        ScopedPurges.Plan plan = scoped.plan(scope, caller);
        PurgeRecord record = new PurgeRecord(
                history().newDryRunId(),
                history().nowMillis(),
                ScopedPurges.client(caller),
                ScopedPurges.word(scope.kind()),
                plan.target(),
                scope.site(),
                scope.soft(),
                PurgeState.COUNTING,
                -1,
                -1);
        PurgedPattern pattern = plan.pattern();
        PurgeCount count = pattern == null
                ? PurgeCount.ofDryRun(proxy.store(), invalidator(), plan.scopes())
                : PurgeCount.of(
                        proxy.store(),
                        invalidator(),
                        pattern.at(pattern.stamp(), history().nowMillis()));
        purgeCounts.start(record, count);
        return new DryRun(record, count);
    }

    private static <T> CompletionStage<T> answer(PurgeCount counted, Supplier<T> result) {
        String obstacle = counted.obstacle();
        return obstacle == null
                ? CompletableFuture.completedFuture(result.get())
                : CompletableFuture.failedFuture(new AdminException(
                        409, "no-inventory", "objects cannot be counted without an inventory: " + obstacle));
    }
}
