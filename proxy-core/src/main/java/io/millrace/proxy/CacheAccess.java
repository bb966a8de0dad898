package io.millrace.proxy;

import io.millrace.proxy.admin.cache.CurveSource;
import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.cache.ListSource;
import io.millrace.proxy.admin.cache.ListSource.ListQuery;
import io.millrace.proxy.admin.cache.ListSource.ListReport;
import io.millrace.proxy.admin.cache.LookupSource;
import io.millrace.proxy.admin.cache.LookupSource.Field;
import io.millrace.proxy.admin.cache.LookupSource.LookupReport;
import io.millrace.proxy.admin.cache.PatternForms;
import io.millrace.proxy.admin.data.PurgeAdmin;
import io.millrace.proxy.admin.purge.PurgeControl.Count;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.cache.CacheCurve;
import io.millrace.proxy.cache.CacheException;
import io.millrace.proxy.cache.CacheLookup;
import io.millrace.proxy.cache.CachePurge;
import io.millrace.proxy.cache.CacheQuery;
import io.millrace.proxy.cache.CachedResponse;
import io.millrace.proxy.cache.ListingEnd;
import io.millrace.proxy.cache.ProxyCache;
import io.millrace.proxy.cache.PurgeEstimate;
import io.millrace.proxy.cache.PurgeResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Implements {@link ProxyCache} by means of the sources that the admin API uses. Thread-safe. */
final class CacheAccess implements ProxyCache {
    /** Number of responses that a listing reads before it passes them to its receiver. */
    static final int PAGE = 1000;

    /**
     * The sources of the admin API.
     *
     * @param isClosed returns true once the store is closed
     */
    record Sources(
            BooleanSupplier isClosed, LookupSource lookup, PurgeAdmin purges, ListSource listing, CurveSource curve) {}

    /** An asynchronous call of a source. */
    @FunctionalInterface
    private interface Work<T> {
        CompletionStage<T> begin() throws AdminException;
    }

    private final Sources sources;
    private final Executor executor;

    /** @param executor runs the completion of stages */
    CacheAccess(Sources sources, Executor executor) {
        this.sources = sources;
        this.executor = executor;
    }

    /** Begins a call, and converts its result on the executor. */
    private <T, R> CompletionStage<R> run(Work<T> work, Function<T, R> convert) {
        CompletionStage<T> begun;
        try {
            begun = sources.isClosed().getAsBoolean()
                    ? CompletableFuture.failedFuture(new CacheException("closed", "the proxy is closed"))
                    : work.begin();
        } catch (AdminException | RuntimeException e) {
            begun = CompletableFuture.failedFuture(e);
        }
        return begun.handleAsync(
                (result, failure) -> {
                    if (failure != null) {
                        throw new CompletionException(refusal(failure));
                    }
                    return convert.apply(result);
                },
                executor);
    }

    private static Throwable refusal(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof AdminException refused ? new CacheException(refused.code(), refused.message()) : cause;
    }

    @Override
    public CompletionStage<CacheLookup> lookup(String url, Map<String, String> fields) {
        List<Field> selecting = new ArrayList<>();
        fields.forEach((name, value) -> selecting.add(new Field(name, value)));
        return run(() -> sources.lookup().lookup(url, selecting), CacheAccess::lookup);
    }

    private static CacheLookup lookup(LookupReport report) {
        LookupSource.Stored stored = report.stored();
        return new CacheLookup(
                report.url(),
                report.key(),
                report.rule(),
                stored == null ? null : stored(stored),
                report.reason(),
                report.others().stream().map(CacheAccess::lookup).toList());
    }

    private static CacheLookup.Stored stored(LookupSource.Stored stored) {
        return new CacheLookup.Stored(
                stored.tier().equals("ram"),
                stored.status(),
                stored.fresh(),
                stored.ageSeconds(),
                stored.freshnessLifetimeSeconds(),
                stored.length(),
                stored.vary(),
                stored.etag(),
                stored.lastModified(),
                stored.tags());
    }

    @Override
    public CompletionStage<PurgeResult> purge(CachePurge purge) {
        if (purge.kind() == CachePurge.Kind.URL && !purge.isSoft()) {
            return run(
                    () -> sources.purges().purgeUrl(purge.target(), AdminCaller.UNKNOWN, purge.isCounted()),
                    report -> new PurgeResult(report.id(), "url", report.url(), report.detail(), report.objects()));
        }
        return run(
                () -> sources.purges().scoped().invalidate(scope(purge), AdminCaller.UNKNOWN, purge.isCounted()),
                report -> new PurgeResult(
                        report.id(), report.scope(), report.target(), report.detail(), report.objects()));
    }

    private static Scope scope(CachePurge purge) throws AdminException {
        String target = purge.target();
        boolean soft = purge.isSoft();
        return switch (purge.kind()) {
            case URL -> new Scope(Kind.URL, null, target, soft);
            case HOST -> new Scope(Kind.HOST, target, null, soft);
            case PREFIX -> new Scope(Kind.PREFIX, null, target, soft);
            case GROUP -> new Scope(Kind.GROUP, purge.host(), target, soft);
            case TAGS -> new Scope(Kind.TAG, null, null, soft, purge.tags(), purge.site());
            case WHERE -> new Scope(Kind.PATTERN, null, PatternForms.expression(target, null, null), soft);
            case REGEX -> new Scope(Kind.PATTERN, null, PatternForms.expression(null, target, null), soft);
            case WILDCARD -> new Scope(Kind.PATTERN, null, PatternForms.expression(null, null, target), soft);
            case ALL -> new Scope(Kind.ALL, null, null, soft);
        };
    }

    @Override
    public CompletionStage<PurgeEstimate> count(CachePurge purge) {
        return run(() -> sources.purges().count(scope(purge), AdminCaller.UNKNOWN), CacheAccess::estimate);
    }

    private static PurgeEstimate estimate(Count count) {
        return new PurgeEstimate(count.objects(), count.bytes(), count.urls(), count.hasMoreUrls(), count.note());
    }

    @Override
    public CompletionStage<ListingEnd> list(CacheQuery query, Predicate<? super CachedResponse> receiver) {
        CompletableFuture<ListingEnd> end = new CompletableFuture<>();
        new Listing(query, receiver, end).next(null);
        return end;
    }

    /** One listing. Confined to one thread at a time. */
    private final class Listing {
        private final CacheQuery query;
        private final Predicate<? super CachedResponse> receiver;
        private final CompletableFuture<ListingEnd> end;
        /** Number of responses that the receiver got. */
        private long passed;
        /** Why the listing is incomplete; null if it is complete so far. */
        private @Nullable String reason;

        Listing(CacheQuery query, Predicate<? super CachedResponse> receiver, CompletableFuture<ListingEnd> end) {
            this.query = query;
            this.receiver = receiver;
            this.end = end;
        }

        /** Reads the page after a position, and passes its responses to the receiver. */
        void next(@Nullable String after) {
            ListQuery page =
                    new ListQuery(query.prefix(), query.regex(), query.host(), null, query.where(), PAGE, after, false);
            CompletionStage<ListReport> read = run(() -> sources.listing().list(page), Function.identity());
            CompletionStage<Void> passing = read.thenAcceptAsync(this::pass, executor);
            // The failure may also come from the receiver, or from an executor that refuses tasks.
            passing.whenComplete((none, failure) -> {
                if (failure != null) {
                    end.completeExceptionally(refusal(failure));
                }
            });
        }

        private void pass(ListReport report) {
            reason = report.reason() == null ? reason : report.reason();
            for (ListSource.Listed listed : report.objects()) {
                passed++;
                if (!receiver.test(response(listed))) {
                    end.complete(new ListingEnd(passed, false, null));
                    return;
                }
            }
            String next = report.next();
            if (next == null) {
                end.complete(new ListingEnd(passed, reason == null, reason));
            } else {
                next(next);
            }
        }
    }

    private static CachedResponse response(ListSource.Listed listed) {
        return new CachedResponse(
                listed.url(),
                listed.variant(),
                listed.status(),
                listed.type(),
                listed.length(),
                listed.whole(),
                listed.storedAt(),
                listed.keptUntil(),
                listed.tags());
    }

    @Override
    public CompletionStage<Optional<CacheCurve>> curve() {
        return run(
                () -> CompletableFuture.completedFuture(sources.curve()),
                source -> Optional.ofNullable(source.curve()).map(CacheAccess::curve));
    }

    private static CacheCurve curve(CurveSource.CurveView curve) {
        return new CacheCurve(
                curve.isReady(),
                curve.ramBytes(),
                curve.sampleRate(),
                curve.requests(),
                curve.sizes().stream()
                        .map(size -> new CacheCurve.Size(
                                size.scale(),
                                size.ramBytes(),
                                size.current().requests(),
                                size.current().bytes()))
                        .toList(),
                curve.hosts().stream()
                        .map(host -> new CacheCurve.Host(host.name(), host.requests(), host.hitRatios()))
                        .toList());
    }
}
