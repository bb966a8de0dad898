package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.storing.NoStoreReason;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.caching.validate.PartialContent;
import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.DecisionKind;
import io.millrace.proxy.exchange.decide.DryRunResult;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.LocalAnswer;
import io.millrace.proxy.exchange.decide.RequestDecider;
import io.millrace.proxy.exchange.decide.StoredParts;
import io.millrace.proxy.exchange.forward.OriginRequests;
import io.millrace.proxy.exchange.origin.OriginTries;
import io.millrace.proxy.expression.request.RequestFields;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.lookup.UncacheableKeys;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.Redirected;
import io.millrace.proxy.remap.RemapResult;
import io.millrace.proxy.rules.RequestView;
import io.millrace.proxy.rules.RuleProgram;
import io.millrace.proxy.serve.Selection;
import io.millrace.store.CacheStore;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A dry run of one request: makes the decisions of {@link RequestDecider} without side effects. It sends nothing to an
 * origin, does not advance the rotation of an origin group, stores nothing, and counts nothing. A real request at the
 * same moment on this event loop would have the same result.
 *
 * <p>Confined to one event loop. For a single use.
 */
final class RequestDryRun {
    private final ExchangeLoop exchangeLoop;
    private final ExchangeLoop.Shared shared;
    private final ClientConnection client;
    private final long contentLength;
    private final CompletableFuture<DryRunResult> answer = new CompletableFuture<>();
    private final RequestDecider decider;
    private final Decision decision;
    private DryRunResult.@Nullable Found found;

    private RequestDryRun(
            ExchangeLoop exchangeLoop,
            ExchangeLoop.Shared shared,
            RequestHead request,
            long contentLength,
            ClientConnection client) {
        this.exchangeLoop = exchangeLoop;
        this.shared = shared;
        this.client = client;
        this.contentLength = contentLength;
        decider = RequestDecider.ofDryRun(shared, new LoopCounters());
        decision = new Decision(request);
    }

    /** Begins the dry run on the event loop. The result completes there, immediately or after a disk read. */
    static CompletionStage<DryRunResult> of(
            ExchangeLoop exchangeLoop,
            ExchangeLoop.Shared shared,
            RequestHead request,
            long contentLength,
            ClientConnection client) {
        RequestDryRun dryRun = new RequestDryRun(exchangeLoop, shared, request, contentLength, client);
        dryRun.guarded(() -> {
            dryRun.decider.decide(
                    dryRun.decision.markNoAcmeChallenge(),
                    contentLength,
                    client,
                    shared.clock().millis());
            dryRun.advance();
        });
        return dryRun.answer;
    }

    /** Runs a step. An exception in the step completes the result exceptionally. */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            StoredObject<StoredHead> object = decision.takeObjectOrNull();
            if (object != null) {
                object.release();
            }
            answer.completeExceptionally(e);
        }
    }

    /** Completes the result, or first opens the object on disk. */
    private void advance() {
        if (decision.kind() == DecisionKind.OPEN) {
            shared.store().open(decision.key(), exchangeLoop.loop(), this::opened);
            return;
        }
        if (found == null && decision.primaryKey() != null) {
            lookInRam(shared.store());
        }
        answer.complete(result());
    }

    private void opened(@Nullable StoredObject<StoredHead> object) {
        if (object != null && !object.head().isVaryMarker()) {
            found = found(object, false);
        }
        guarded(() -> {
            decider.afterOpen(decision, object);
            advance();
        });
    }

    /** Looks for the stored response in RAM, including one that the decider examined but does not use. */
    private void lookInRam(CacheStore<StoredHead> store) {
        StoredObject<StoredHead> decidedObject = decision.object();
        if (decidedObject != null) {
            found = found(decidedObject, true);
            return;
        }
        StoredObject<StoredHead> object = store.get(decision.key());
        if (object != null) {
            if (!object.head().isVaryMarker()) {
                found = found(object, true);
            }
            object.release();
        }
    }

    private DryRunResult.Found found(StoredObject<StoredHead> object, boolean inRam) {
        return new DryRunResult.Found(
                object.head(), inRam, object.length(), object.isComplete(), decision.marker() != null);
    }

    private DryRunResult result() {
        int status = status();
        DryRunResult.Collapse collapse = collapse();
        DryRunResult.OriginFetch originFetch = originFetch(collapse != null);
        StoredObject<StoredHead> object = decision.takeObjectOrNull();
        if (object != null) {
            object.release();
        }
        StoreKey primaryKey = decision.primaryKey();
        boolean keyed = primaryKey != null;
        boolean mapped = decision.isMapped();
        DryRunResult.Outcome outcome = outcome();
        Reuse reuse = reuse();
        DryRunResult.Rule rule = rule();
        LocalAnswer local = decision.localOrNull();
        return new DryRunResult(
                outcome,
                status,
                local == null ? "" : local.reason(),
                local == null ? null : local.check(),
                local == null ? null : local.location(),
                rule,
                rules(),
                limits(rule),
                DryRunResult.ExtensionUse.of(decision),
                decision.canaryBranch(),
                mapped ? decision.cacheRules() : null,
                mapped ? decision.cacheSettings() : null,
                mapped
                        ? decision.cacheSettings()
                                .encoding()
                                .choose(decision.request().fields())
                        : null,
                keyed ? decision.keyUrl().asString() : null,
                primaryKey == null ? null : new String(primaryKey.bytes(), StandardCharsets.ISO_8859_1),
                found,
                reuse,
                purge(reuse),
                isFromCache(outcome) || (originFetch == null && outcome != DryRunResult.Outcome.UNAVAILABLE)
                        ? null
                        : decision.forwardReason().token(),
                mapped && decision.upgrade() == null ? noStore() : null,
                keyed ? uncacheable() : null,
                originFetch,
                collapse);
    }

    private static boolean isFromCache(DryRunResult.Outcome outcome) {
        return outcome == DryRunResult.Outcome.HIT || outcome == DryRunResult.Outcome.STALE;
    }

    private DryRunResult.@Nullable Uncacheable uncacheable() {
        UncacheableKeys keys = shared.uncacheable();
        long nowMillis = shared.clock().millis();
        NoStoreReason reason = NoStoreReason.ofCode(keys.reason(decision.key(), nowMillis));
        long ttlSeconds = decision.fillConfig().uncacheableSeconds();
        return reason == null
                ? null
                : new DryRunResult.Uncacheable(reason, keys.expirySeconds(decision.key(), nowMillis) - ttlSeconds);
    }

    private @Nullable NoStoreReason noStore() {
        return Storability.ofRequest(decision.request(), decision.cacheSettings());
    }

    private DryRunResult.Outcome outcome() {
        return switch (decision.kind()) {
            case DENIED, NOT_MAPPED -> DryRunResult.Outcome.DENY;
            case FINAL_RECIPIENT, ANSWERED -> DryRunResult.Outcome.ANSWER;
            case REDIRECTED -> DryRunResult.Outcome.REDIRECT;
            case TUNNEL -> DryRunResult.Outcome.TUNNEL;
            case PASS -> DryRunResult.Outcome.PASS;
            case FRESH -> DryRunResult.Outcome.HIT;
            case SERVE_STALE -> DryRunResult.Outcome.STALE;
            case VALIDATE -> DryRunResult.Outcome.VALIDATE;
            case COMPLETE -> DryRunResult.Outcome.COMPLETE;
            case MISS -> DryRunResult.Outcome.FETCH;
            case UNAVAILABLE -> DryRunResult.Outcome.UNAVAILABLE;
            case OPEN -> throw new IllegalStateException("the stored object was not opened: " + decision.key());
            case AUTHENTICATE ->
                throw new IllegalStateException("a dry run checks no credentials: " + decision.keyUrl());
            case EXTENSION_PENDING, EXTENSION_ANSWERED -> throw new IllegalStateException("a dry run called a hook");
            case CHALLENGE -> throw new IllegalStateException("a dry run skips challenges: " + decision.keyUrl());
        };
    }

    private int status() {
        return switch (decision.kind()) {
            case DENIED, NOT_MAPPED, REDIRECTED, ANSWERED, FINAL_RECIPIENT ->
                decision.local().status();
            case UNAVAILABLE -> 504;
            case FRESH, SERVE_STALE -> storedStatus();
            default -> 0;
        };
    }

    /**
     * Returns the status that the request's preconditions and range select from the stored response (RFC 9110 s13.2.2,
     * s14).
     */
    private int storedStatus() {
        StoredObject<StoredHead> object = decision.object();
        if (object == null) {
            return 0;
        }
        StoredHead head = object.head();
        Selection selection = StoredParts.isPart(head)
                ? Selection.ofPart(decision.request(), head, PartialContent.rangeOf(head))
                : Selection.of(decision.request(), head, object.length());
        return selection == null ? head.status() : selection.status(head);
    }

    /**
     * Returns the matching rule. Matches again if the rule refused or redirected the request, since the decision then
     * contains no rule.
     */
    private DryRunResult.@Nullable Rule rule() {
        if (decision.isMapped()) {
            return DryRunResult.Rule.of(decision.mapped());
        }
        RemapResult result = shared.settings()
                .get()
                .remap()
                .match(decision.request().target(), client.localAddress().getPort());
        if (result instanceof Mapped mapped) {
            return DryRunResult.Rule.of(mapped);
        }
        return result instanceof Redirected redirected ? DryRunResult.Rule.of(redirected.rule()) : null;
    }

    /** Returns the elements of rules that match, or that could match depending on the response. */
    private List<DryRunResult.RuleMatch> rules() {
        RuleProgram program = decision.rules();
        if (program == null) {
            return List.of();
        }
        RequestView view = new RequestView(ZoneId.systemDefault())
                .begin(decision.request(), client, decision.decidedMillis(), decision.random());
        List<DryRunResult.RuleMatch> matches = new ArrayList<>();
        for (RuleConfig rule : program.all()) {
            boolean matching = rule.when() == null || rule.when().couldHold(view, RequestFields::isOfResponse);
            if (matching) {
                boolean certain = rule.when() == null || !rule.when().couldFail(view, RequestFields::isOfResponse);
                matches.add(new DryRunResult.RuleMatch(rule.name(), rule.place(), rule.actions(), certain));
            }
        }
        return List.copyOf(matches);
    }

    private List<DryRunResult.LimitState> limits(DryRunResult.@Nullable Rule rule) {
        int index = rule == null ? -1 : rule.index();
        return decider.limitStates(
                decision.request(), index, client, shared.clock().millis());
    }

    private @Nullable Reuse reuse() {
        DryRunResult.Found stored = found;
        if (stored == null || !decision.isMapped()) {
            return null;
        }
        Outdated outdated = shared.invalidator().invalidations().of(decision.keyUrl(), stored.head(), stored.length());
        return Reuse.of(decision.request(), stored.head(), shared.clock().millis(), decision.cacheSettings(), outdated);
    }

    private @Nullable String purge(@Nullable Reuse reuse) {
        DryRunResult.Found stored = found;
        if (stored == null || !(reuse instanceof Reuse.Invalidated invalidated)) {
            return null;
        }
        long stamp = shared.invalidator()
                .invalidations()
                .purgeStamp(decision.keyUrl(), stored.head(), stored.length(), invalidated.kind());
        return stamp == 0 ? null : PurgeId.ofStamp(stamp);
    }

    private DryRunResult.@Nullable Collapse collapse() {
        SharedFetch other = decision.isMapped()
                ? new FetchPlans(exchangeLoop, decision.request(), client, contentLength).fetchToJoin(decision)
                : null;
        if (other == null) {
            return null;
        }
        long waitNanos = decision.mapped().rule().config().cache().collapseWaitNanos();
        boolean waits = waitNanos > 0 || decision.isValidatingInBackground();
        return waits ? new DryRunResult.Collapse(waitNanos) : null;
    }

    /**
     * Returns the request to the origin; null if the proxy would send none.
     *
     * @param joins true if the request would wait for a fetch in flight, so that no host is chosen
     */
    private DryRunResult.@Nullable OriginFetch originFetch(boolean joins) {
        boolean isFetched =
                switch (decision.kind()) {
                    case PASS, VALIDATE, COMPLETE, MISS -> true;
                    case SERVE_STALE -> decision.isValidatingInBackground();
                    default -> false;
                };
        if (!isFetched) {
            return null;
        }
        Mapped mapped = decision.mapped();
        String url = new String(decision.originUrlBytes(), StandardCharsets.ISO_8859_1);
        boolean inBackground = decision.isValidatingInBackground();
        String name = mapped.originGroup();
        if (name == null) {
            boolean isDown = exchangeLoop.hosts().isDown(OriginRequests.origin(mapped))
                    && exchangeLoop.settings().markdown().failThreshold() > 0;
            return new DryRunResult.OriginFetch(url, null, null, inBackground, isDown);
        }
        FetchPlan plan = FetchPlan.pass(decision, client, contentLength);
        try {
            OriginGroup group = shared.groups().find(name);
            if (joins) {
                return new DryRunResult.OriginFetch(url, group, null, inBackground, false);
            }
            long key = OriginTries.hash(group.config(), plan);
            boolean mayTryNext = decision.request().method().isIdempotent();
            long nowMillis = shared.clock().millis();
            return new DryRunResult.OriginFetch(
                    url, group, exchangeLoop.groups().preview(group, key, mayTryNext, nowMillis), inBackground, false);
        } finally {
            plan.releaseStoredObject();
        }
    }
}
