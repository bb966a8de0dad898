package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.storing.NoStoreReason;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.caching.validate.PartialContent;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.Foreseen;
import io.millrace.proxy.exchange.decide.LegPlan;
import io.millrace.proxy.exchange.decide.RequestDecider;
import io.millrace.proxy.exchange.decide.StoredParts;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.Redirected;
import io.millrace.proxy.remap.RemapResult;
import io.millrace.proxy.serve.Selection;
import io.millrace.store.CacheStore;
import io.millrace.store.StoredObject;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Asks {@link RequestDecider} the question that every request asks, with counters that nobody reads, and does nothing of what it
 * says: no origin is asked, no turn is taken, nothing is stored. What it tells is what a request would meet at that moment on this
 * event loop.
 *
 * <p>Confined to one event loop; of use once.
 */
final class Foresight {
    private final ExchangeLoop home;
    private final ExchangeLoop.Shared shared;
    private final ClientConnection client;
    private final long contentLength;
    private final CompletableFuture<Foreseen> answer = new CompletableFuture<>();
    private final RequestDecider decider;
    private final Decision decision;
    private Foreseen.@Nullable Found found;

    private Foresight(
            ExchangeLoop home,
            ExchangeLoop.Shared shared,
            RequestHead request,
            long contentLength,
            ClientConnection client) {
        this.home = home;
        this.shared = shared;
        this.client = client;
        this.contentLength = contentLength;
        decider = new RequestDecider(shared, new LoopCounters());
        decision = new Decision(request);
    }

    /** Begins on the event loop; the answer completes there, now or when the disk was read. */
    static CompletionStage<Foreseen> of(
            ExchangeLoop home,
            ExchangeLoop.Shared shared,
            RequestHead request,
            long contentLength,
            ClientConnection client) {
        Foresight foresight = new Foresight(home, shared, request, contentLength, client);
        foresight.carefully(() -> {
            foresight.decider.decide(
                    foresight.decision.passChallenges(),
                    contentLength,
                    client,
                    shared.clock().millis());
            foresight.goOn();
        });
        return foresight.answer;
    }

    /** A fault is the answer, also one that comes when the disk was read. */
    private void carefully(Runnable step) {
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

    private void goOn() {
        if (decision.kind() == Decision.Kind.OPEN) {
            shared.store().open(decision.key(), home.loop(), this::opened);
            return;
        }
        if (found == null && decision.primaryKey() != null) {
            lookInRam(shared.store());
        }
        answer.complete(tell());
    }

    private void opened(@Nullable StoredObject<StoredHead> object) {
        if (object != null && !object.head().isVaryMarker()) {
            found = found(object, false);
        }
        carefully(() -> {
            decider.afterOpen(decision, object);
            goOn();
        });
    }

    /** What was looked at and let go, since it is not used, is shown all the same. */
    private void lookInRam(CacheStore<StoredHead> store) {
        StoredObject<StoredHead> held = decision.object();
        if (held != null) {
            found = found(held, true);
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

    private Foreseen.Found found(StoredObject<StoredHead> object, boolean inRam) {
        return new Foreseen.Found(
                object.head(), inRam, object.length(), object.isComplete(), decision.marker() != null);
    }

    private Foreseen tell() {
        int status = status();
        Foreseen.Collapse collapse = collapse();
        Foreseen.Asked asked = asked(collapse != null);
        StoredObject<StoredHead> object = decision.takeObjectOrNull();
        if (object != null) {
            object.release();
        }
        boolean keyed = decision.primaryKey() != null;
        boolean mapped = decision.isMapped();
        Foreseen.Outcome outcome = outcome();
        return new Foreseen(
                outcome,
                status,
                decision.reason(),
                decision.filter(),
                outcome == Foreseen.Outcome.REDIRECT ? decision.location() : null,
                rule(),
                mapped ? decision.cacheRules() : null,
                mapped ? decision.cacheSettings() : null,
                keyed ? decision.keyUrl().asString() : null,
                keyed ? decision.mapped().keyOf(decision.keyUrl()).asString() : null,
                found,
                reuse(),
                isFromCache(outcome) || (asked == null && outcome != Foreseen.Outcome.UNAVAILABLE)
                        ? null
                        : decision.forwardReason().token(),
                mapped && decision.upgrade() == null ? noStore() : null,
                keyed
                        && shared.uncacheable()
                                .contains(decision.key(), shared.clock().millis()),
                asked,
                collapse);
    }

    private static boolean isFromCache(Foreseen.Outcome outcome) {
        return outcome == Foreseen.Outcome.HIT || outcome == Foreseen.Outcome.STALE;
    }

    private @Nullable NoStoreReason noStore() {
        return Storability.ofRequest(decision.request(), decision.cacheSettings());
    }

    private Foreseen.Outcome outcome() {
        return switch (decision.kind()) {
            case DENIED, NOT_MAPPED -> Foreseen.Outcome.DENY;
            case FINAL_RECIPIENT -> Foreseen.Outcome.ANSWER;
            case REDIRECTED -> Foreseen.Outcome.REDIRECT;
            case TUNNEL -> Foreseen.Outcome.TUNNEL;
            case PASS -> Foreseen.Outcome.PASS;
            case FRESH -> Foreseen.Outcome.HIT;
            case FRESH_ENOUGH -> Foreseen.Outcome.STALE;
            case VALIDATE -> Foreseen.Outcome.VALIDATE;
            case COMPLETE -> Foreseen.Outcome.COMPLETE;
            case MISS -> Foreseen.Outcome.FETCH;
            case UNAVAILABLE -> Foreseen.Outcome.UNAVAILABLE;
            case OPEN -> throw new IllegalStateException("not opened: " + decision.key());
            case CHALLENGE -> throw new IllegalStateException("not passed: " + decision.keyUrl());
        };
    }

    private int status() {
        return switch (decision.kind()) {
            case DENIED -> decision.deniedStatus();
            case NOT_MAPPED -> 404;
            case REDIRECTED -> decision.redirectStatus();
            case UNAVAILABLE -> 504;
            case FINAL_RECIPIENT -> 200;
            case FRESH, FRESH_ENOUGH -> storedStatus();
            default -> 0;
        };
    }

    /** What the request's preconditions and range make of the stored response that answers (RFC 9110 s13.2.2, s14). */
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

    /** A rule that refuses or redirects is not in the decision. */
    private Foreseen.@Nullable Rule rule() {
        if (decision.isMapped()) {
            return Foreseen.Rule.of(decision.mapped());
        }
        RemapResult result = shared.settings()
                .get()
                .remap()
                .match(decision.request().target(), client.localAddress().getPort());
        if (result instanceof Mapped mapped) {
            return Foreseen.Rule.of(mapped);
        }
        return result instanceof Redirected redirected ? Foreseen.Rule.of(redirected.rule()) : null;
    }

    private @Nullable Reuse reuse() {
        Foreseen.Found stored = found;
        if (stored == null || !decision.isMapped()) {
            return null;
        }
        Outdated outdated = shared.invalidator().invalidations().of(decision.keyUrl(), stored.head());
        return Reuse.of(decision.request(), stored.head(), shared.clock().millis(), decision.cacheSettings(), outdated);
    }

    private Foreseen.@Nullable Collapse collapse() {
        OriginLeg other = decision.isMapped()
                ? new FetchPlans(home, decision.request(), client, contentLength).underWay(decision)
                : null;
        if (other == null) {
            return null;
        }
        long waitNanos = decision.mapped().rule().config().cache().collapseWaitNanos();
        boolean waits = waitNanos > 0 || decision.isValidatingAside();
        return waits ? new Foreseen.Collapse(waitNanos) : null;
    }

    /** @param already whether another request's fetch is waited for, so that no host is chosen */
    private Foreseen.@Nullable Asked asked(boolean already) {
        boolean asked =
                switch (decision.kind()) {
                    case PASS, VALIDATE, COMPLETE, MISS -> true;
                    case FRESH_ENOUGH -> decision.isValidatingAside();
                    default -> false;
                };
        if (!asked) {
            return null;
        }
        Mapped mapped = decision.mapped();
        String url = new String(mapped.originUrlBytes(decision.originUrl()), StandardCharsets.ISO_8859_1);
        boolean aside = decision.isValidatingAside();
        String name = mapped.origins();
        if (name == null) {
            return new Foreseen.Asked(url, null, null, aside);
        }
        LegPlan plan = LegPlan.pass(decision, client, contentLength);
        try {
            OriginGroup group = shared.groups().find(name);
            if (already) {
                return new Foreseen.Asked(url, group, null, aside);
            }
            long key = OriginTries.hash(group.config(), plan);
            boolean mayMove = decision.request().method().isIdempotent();
            long nowMillis = shared.clock().millis();
            return new Foreseen.Asked(url, group, home.groups().foresee(group, key, mayMove, nowMillis), aside);
        } finally {
            plan.release();
        }
    }
}
