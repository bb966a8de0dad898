package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.cache.InvalidationService.InvalidationReport;
import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.fleet.FleetBatch;
import io.millrace.proxy.admin.fleet.FleetService;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.FailureReply;
import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.exchange.settings.InvalidationScopes;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.fleet.FleetPurge;
import io.millrace.proxy.purge.record.PurgeClient;
import io.millrace.proxy.purge.record.PurgeHistory;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.proxy.purge.record.PurgeRecord;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Applies the purges of other nodes of the fleet. Each purge gets a stamp (time and sequence number) of this node.
 * Stores the position of the last applied message in the stream of messages of the fleet.
 *
 * <p>Thread-safe.
 */
public final class FleetPurges implements FleetService {
    private final ProxyView proxy;
    private final ScopedPurges scoped;
    private final AtomicBoolean busy = new AtomicBoolean();

    FleetPurges(ProxyView proxy, ScopedPurges scoped) {
        this.proxy = proxy;
        this.scoped = scoped;
    }

    private Invalidator invalidator() {
        return proxy.shared().invalidator();
    }

    private PurgeHistory history() {
        return proxy.shared().purges();
    }

    private ServingLoop loop() {
        return proxy.loops().get(0);
    }

    @Override
    public @Nullable FleetPosition position() {
        return invalidator().fleetPosition();
    }

    @Override
    public boolean mayBlock() {
        return !history().fleet().isInstanceKnown();
    }

    @Override
    public CompletionStage<Outcome> apply(FleetBatch batch) {
        if (!busy.compareAndSet(false, true)) {
            return CompletableFuture.failedFuture(
                    new AdminException(409, BUSY, "another batch of purges is being applied"));
        }
        CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        // Callers receive this dependent stage, so busy is cleared, and the next batch is accepted, before the
        // answer is sent.
        CompletionStage<Outcome> freed = outcome.whenComplete((done, failure) -> busy.set(false));
        try {
            begin(batch, outcome);
        } catch (AdminException | RuntimeException | IOException e) {
            outcome.completeExceptionally(e);
        }
        return freed;
    }

    private void begin(FleetBatch batch, CompletableFuture<Outcome> outcome) throws AdminException, IOException {
        if (!Objects.equals(batch.after(), position())) {
            throw new AdminException(409, "fleet-position", "the batch does not continue at the position of this node");
        }
        Map<String, Long> stamps = new ConcurrentSkipListMap<>();
        List<String> refused = new ArrayList<>();
        List<CompletableFuture<?>> all = new ArrayList<>();
        if (batch.isGap()) {
            // Messages may be missing, and the missing purges may have covered any response.
            all.add(purgeEverything(batch.isSoftGap(), "stream").toCompletableFuture());
        }
        String instance = history().fleet().instance();
        for (FleetMessage message : batch.messages()) {
            if (message.instance().equals(instance)) {
                // This node has applied its purge before it queued the message.
                continue;
            }
            all.add(apply(message, batch.isSoftGap(), stamps, refused));
        }
        CompletableFuture<?> applied = CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0]));
        var unused = applied.whenComplete((nothing, failure) -> {
            if (failure != null) {
                outcome.completeExceptionally(FailureReply.exceptionOf(failure));
                return;
            }
            invalidator().fleetApplied(batch.to(), stamps, loop().loop(), problem -> {
                if (problem == null) {
                    outcome.complete(new Outcome(batch.to(), List.copyOf(refused)));
                } else {
                    outcome.completeExceptionally(
                            new AdminException(500, "purge-not-durable", String.valueOf(problem.getMessage())));
                }
            });
        });
    }

    /**
     * Starts to apply one message. The purge is in force when this method returns; the future completes when it is
     * durable.
     */
    private CompletableFuture<?> apply(
            FleetMessage message, boolean softGap, Map<String, Long> stamps, List<String> refused) {
        FleetPurge purge = message.purge();
        try {
            return switch (purge.action()) {
                case UNDO -> undo(message, false);
                case CANCEL -> undo(message, true);
                case LOST -> purgeEverything(softGap, message.node()).toCompletableFuture();
                case MARK -> CompletableFuture.completedFuture(null);
                case URL -> purge.soft() ? purgeScopes(message, stamps, softGap) : purgeUrls(message);
                default -> purgeScopes(message, stamps, softGap);
            };
        } catch (AdminException e) {
            refused.add(message.id() + ": " + e.message());
            return CompletableFuture.completedFuture(null);
        }
    }

    private static PurgeClient client(String node) {
        return new PurgeClient("fleet", -1, null, node);
    }

    private CompletionStage<InvalidationReport> purgeEverything(boolean soft, String node) {
        ScopedPurges.Plan plan =
                new ScopedPurges.Plan(List.of(InvalidationScope.all()), Counter.PURGES_ALL, "everything");
        return scoped.invalidate(plan, new Scope(Kind.ALL, null, null, soft), client(node), false, null);
    }

    private CompletableFuture<?> purgeScopes(FleetMessage message, Map<String, Long> stamps, boolean softGap)
            throws AdminException {
        FleetPurge purge = message.purge();
        Scope scope = scope(purge);
        ScopedPurges.Plan plan = plan(purge, scope);
        CompletableFuture<InvalidationReport> applied = scoped.invalidate(
                        plan, scope, client(message.node()), false, null)
                .toCompletableFuture();
        if (applied.isCompletedExceptionally() && plan.pattern() != null) {
            // Too many purges by pattern are in force on this node. The purge must not be lost, so everything is
            // purged.
            return purgeEverything(softGap, message.node()).toCompletableFuture();
        }
        boolean isChangeable = purge.soft() || plan.pattern() != null;
        return applied.thenAccept(report -> {
            if (isChangeable) {
                stamps.put(message.id(), report.stamp());
            }
        });
    }

    private static Scope scope(FleetPurge purge) {
        List<String> targets = purge.targets();
        boolean soft = purge.soft();
        return switch (purge.action()) {
            case HOST -> new Scope(Kind.HOST, targets.get(0), null, soft);
            case GROUP -> new Scope(Kind.GROUP, targets.get(0), targets.get(1), soft);
            case PREFIX -> new Scope(Kind.PREFIX, null, targets.get(0), soft);
            case URL -> new Scope(Kind.URL, null, targets.get(0), soft);
            case PATTERN -> new Scope(Kind.PATTERN, null, targets.get(0), soft);
            case TAG ->
                new Scope(
                        Kind.TAG,
                        null,
                        null,
                        soft,
                        targets,
                        purge.sites().isEmpty() ? null : purge.sites().get(0));
            case ALL, LOST, MARK, UNDO, CANCEL -> new Scope(Kind.ALL, null, null, soft);
        };
    }

    private ScopedPurges.Plan plan(FleetPurge purge, Scope scope) throws AdminException {
        if (scope.kind() == Kind.URL) {
            List<TargetUri> urls = urls(purge);
            String target = String.join(", ", purge.targets());
            return new ScopedPurges.Plan(
                    InvalidationScopes.urls(urls, proxy.settings().remap()), Counter.PURGES_URL_SOFT, target);
        }
        if (scope.kind() == Kind.TAG) {
            TagList list = new TagList();
            for (String tag : purge.targets()) {
                byte[] bytes = tag.getBytes(StandardCharsets.UTF_8);
                list.addOne(bytes, 0, bytes.length);
            }
            String problem = list.problem();
            if (problem != null || list.tags().isEmpty()) {
                throw new AdminException(400, "bad-request", String.valueOf(problem));
            }
            return new ScopedPurges.Plan(
                    InvalidationScopes.tags(list.tags(), Set.copyOf(purge.sites())),
                    Counter.PURGES_TAG,
                    PurgeRecord.tagTarget(purge.targets(), scope.site()));
        }
        return scoped.plan(scope, AdminCaller.UNKNOWN);
    }

    private static List<TargetUri> urls(FleetPurge purge) throws AdminException {
        List<TargetUri> urls = new ArrayList<>();
        for (String text : purge.targets()) {
            if (!(TargetUri.parseAbsolute(text) instanceof TargetUri url)) {
                throw DataPlaneAdmin.notUrl(text);
            }
            urls.add(url);
        }
        return urls;
    }

    private CompletableFuture<?> purgeUrls(FleetMessage message) throws AdminException {
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (TargetUri url : urls(message.purge())) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            all.add(done);
            PurgeRecord record = PurgeRecord.done(
                    history().newRemovalId(),
                    history().nowMillis(),
                    client(message.node()),
                    ScopedPurges.word(Kind.URL),
                    url.asString(),
                    null,
                    false);
            proxy.shared().purger().purge(url, loop().loop(), (wasPresent, failure) -> {
                Counter counter = wasPresent ? Counter.PURGES_FOUND : Counter.PURGES_ABSENT;
                loop().counters().increment(failure == null ? counter : Counter.PURGES_FAILED);
                if (failure == null) {
                    history().add(record, loop().loop(), () -> done.complete(null));
                } else {
                    done.completeExceptionally(
                            new AdminException(500, "purge-not-durable", String.valueOf(failure.getMessage())));
                }
            });
        }
        return CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0]));
    }

    /** Undoes or cancels a purge. Has no effect on a purge that this node cannot change any more. */
    private CompletableFuture<?> undo(FleetMessage message, boolean cancels) {
        String sharedId = message.purge().targets().get(0);
        String ownId = FleetMessage.localId(String.valueOf(history().fleet().node()), sharedId);
        long stamp = ownId == null ? invalidator().fleetStamp(sharedId) : PurgeId.stamp(ownId);
        CompletableFuture<Void> done = new CompletableFuture<>();
        String id = PurgeId.ofStamp(stamp);
        PurgeClient client = client(message.node());
        boolean begun = stamp > 0
                && (cancels
                        ? invalidator().cancel(stamp, loop().loop(), failure -> {
                            if (countChange(failure, Counter.PURGES_CANCELLED, done)) {
                                history().cancelled(id, client, loop().loop(), () -> done.complete(null));
                            }
                        })
                        : invalidator().undo(stamp, loop().loop(), failure -> {
                            if (countChange(failure, Counter.PURGES_UNDONE, done)) {
                                history().undone(id, client, loop().loop(), () -> done.complete(null));
                            }
                        }));
        if (!begun) {
            done.complete(null);
        }
        return done;
    }

    /** Counts an undo or cancel. After a failure, completes the future with an error, and returns false. */
    private boolean countChange(@Nullable IOException failure, Counter counter, CompletableFuture<Void> done) {
        loop().counters().increment(failure == null ? counter : Counter.PURGES_FAILED);
        if (failure != null) {
            done.completeExceptionally(
                    new AdminException(500, "purge-not-durable", String.valueOf(failure.getMessage())));
        }
        return failure == null;
    }
}
