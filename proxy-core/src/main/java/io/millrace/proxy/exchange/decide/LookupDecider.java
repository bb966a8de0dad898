package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.caching.key.DynamicUrls;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.exchange.settings.DecisionInputs;
import io.millrace.proxy.extension.RequestHooks;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.observe.field.ForwardReason;
import io.millrace.proxy.remap.Mapped;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import org.jspecify.annotations.Nullable;

/**
 * Decides how a permitted request uses the cache: its key, the lookup in RAM, the variant, and reuse of the stored
 * response. Never blocks and never reads from disk. If the object is only on disk, the decision is {@code OPEN}; after
 * the disk read, {@link #afterOpen} continues.
 *
 * <p>Confined to one event loop.
 */
final class LookupDecider {
    private final DecisionInputs shared;
    private final LoopCounters counters;
    private final HookDecider hooks;

    LookupDecider(DecisionInputs shared, LoopCounters counters, HookDecider hooks) {
        this.shared = shared;
        this.counters = counters;
        this.hooks = hooks;
    }

    /**
     * Decides about a permitted request. The decision contains the request, its rule and its settings.
     *
     * @param contentLength length of the request's content, in bytes
     * @param nowMillis the wall-clock time, in epoch milliseconds
     */
    Decision decide(Decision decision, long contentLength, long nowMillis) {
        return applyLookupHooks(lookUp(decision, contentLength, nowMillis));
    }

    /** Continues with the object read from disk, if any. Takes over the reference. */
    Decision afterOpen(Decision decision, @Nullable StoredObject<StoredHead> found) {
        return applyLookupHooks(decideOpened(decision, found));
    }

    /** Decides whether to use the cache, and under which key. */
    private Decision lookUp(Decision decision, long contentLength, long nowMillis) {
        RequestHead request = decision.request();
        Mapped mapped = decision.mapped();
        if (!decision.cacheSettings().enabled()) {
            return decision.forward(DecisionKind.PASS, ForwardReason.BYPASS);
        }
        if (request.method() != Method.GET && request.method() != Method.HEAD) {
            return decision.forward(DecisionKind.PASS, ForwardReason.METHOD);
        }
        TargetUri keyUrl = mapped.keyUrl(request.target());
        decision.originUrl(mapped.originUrl(request.target(), keyUrl)).keyUrl(keyUrl);
        boolean ranged = request.fields().contains(FieldName.RANGE);
        boolean isUncachedRange = ranged && !decision.fillConfig().rangesUseCache();
        if (contentLength != 0 || isUncachedRange || isDynamic(request, decision.cacheSettings())) {
            return decision.forward(DecisionKind.PASS, ForwardReason.BYPASS);
        }
        CacheKey cacheKey;
        RequestHooks called = decision.hooks();
        if (called != null && called.changesKeys()) {
            byte[] parts = hooks.keyParts(decision, called);
            if (parts == null) {
                return decision;
            }
            cacheKey = mapped.keyOf(keyUrl, parts);
        } else {
            cacheKey = mapped.keyOf(keyUrl);
        }
        StoreKey key = shared.store().keyOver(cacheKey.bytes());
        decision.primaryKey(key);
        return decideInRam(decision, decision.find(shared.store(), key), nowMillis);
    }

    /** Lets extensions decide about the use of the stored response. */
    private Decision applyLookupHooks(Decision decision) {
        RequestHooks called = decision.hooks();
        if (called == null
                || !called.changesLookups()
                || decision.primaryKey() == null
                || decision.kind() == DecisionKind.OPEN
                || decision.kind() == DecisionKind.UNAVAILABLE) {
            return decision;
        }
        return switch (hooks.lookupDone(decision, called)) {
            case PROCEED -> decision;
            case VALIDATE ->
                decision.kind() == DecisionKind.FRESH || decision.kind() == DecisionKind.SERVE_STALE
                        ? validate(decision, decision.takeObject(), ForwardReason.REQUEST)
                        : decision;
            case BYPASS -> {
                StoredObject<StoredHead> object = decision.takeObjectOrNull();
                if (object != null) {
                    decision.releaseUnused(object);
                }
                yield isOnlyIfCached(decision)
                        ? decision.forward(DecisionKind.UNAVAILABLE, ForwardReason.BYPASS)
                        : hooks.bypass(decision, called);
            }
        };
    }

    /** Decides about the object that was read from disk; null if it is not there any more. */
    private Decision decideOpened(Decision decision, @Nullable StoredObject<StoredHead> found) {
        StoredObject<StoredHead> object = found;
        if (object != null && !object.isComplete() && !StoredParts.isReadable(object)) {
            // The missing blocks cannot be verified as parts of the same representation.
            decision.releaseUnused(object);
            object = null;
        }
        if (object == null) {
            counters.increment(Counter.LOOKUPS_ABSENT);
            return miss(decision, decision.marker() == null ? ForwardReason.URI_MISS : ForwardReason.VARY_MISS);
        }
        if (object.head().isVaryMarker()) {
            if (decision.marker() == null) {
                return decideInRam(
                        decision, followMarker(decision, object), shared.clock().millis());
            }
            // The record under the variant's key is a Vary marker. Following it would read the same record again.
            decision.releaseUnused(object);
            counters.increment(Counter.LOOKUPS_ABSENT);
            return miss(decision, ForwardReason.VARY_MISS);
        }
        counters.increment(Counter.LOOKUPS_DISK);
        return decideReuse(decision.markReadFromDisk(), object, shared.clock().millis());
    }

    private Decision decideInRam(Decision decision, @Nullable StoredObject<StoredHead> found, long nowMillis) {
        StoredObject<StoredHead> object = found;
        if (object != null && object.head().isVaryMarker()) {
            object = followMarker(decision, object);
        }
        if (object != null) {
            counters.increment(Counter.LOOKUPS_RAM);
            return decideReuse(decision, object, nowMillis);
        }
        ForwardReason reason = decision.marker() == null ? ForwardReason.URI_MISS : ForwardReason.VARY_MISS;
        if (shared.store().contains(decision.key())) {
            return decision.forward(DecisionKind.OPEN, reason);
        }
        counters.increment(Counter.LOOKUPS_ABSENT);
        return miss(decision, reason);
    }

    /**
     * Follows the Vary marker to the requested variant, if the variant is in RAM. The marker is the record of the
     * request fields that select a response of the URL.
     */
    private @Nullable StoredObject<StoredHead> followMarker(Decision decision, StoredObject<StoredHead> object) {
        StoredHead marker = object.head();
        decision.releaseUnused(object);
        if (decision.marker() != null) {
            return null;
        }
        StoreKey primary = decision.key();
        decision.variant(
                marker,
                Variants.keyOf(
                        shared.store(),
                        primary,
                        marker,
                        decision.request().fields(),
                        decision.cacheSettings().encoding()));
        return decision.find(shared.store(), decision.key());
    }

    /** Decides whether the found response answers the request. Takes over the reference. */
    private Decision decideReuse(Decision decision, StoredObject<StoredHead> object, long nowMillis) {
        Reuse reuse;
        try {
            StoredHead head = object.head();
            Outdated outdated = shared.invalidator().invalidations().of(decision.keyUrl(), head, object.length());
            reuse = Reuse.of(decision.request(), head, nowMillis, decision.cacheSettings(), outdated);
        } catch (RuntimeException | Error e) {
            decision.releaseUnused(object);
            throw e;
        }
        if (!mayStillBeServed(decision, object.head()) && isAnswer(reuse)) {
            return validate(decision, object, ForwardReason.STALE);
        }
        if (reuse instanceof Reuse.Fresh) {
            return available(decision, object, DecisionKind.FRESH);
        }
        if (reuse instanceof Reuse.ServeStale) {
            return available(decision, object, DecisionKind.SERVE_STALE);
        }
        if (reuse instanceof Reuse.ServeStaleWhileRevalidating) {
            decision.markForBackgroundValidation();
            return available(decision, object, DecisionKind.SERVE_STALE);
        }
        if (reuse instanceof Reuse.ServeStaleUnderLoad) {
            decision.markUnderLoad();
            return available(decision, object, DecisionKind.SERVE_STALE);
        }
        if (reuse instanceof Reuse.Validate validate) {
            return validate(decision, object, reasonOf(validate.reason()));
        }
        if (reuse instanceof Reuse.Invalidated invalidated) {
            decision.outdated(invalidated.kind(), purgeStamp(decision, object, invalidated.kind()));
            if (invalidated.kind().isSoft()) {
                return validate(decision, object, ForwardReason.STALE);
            }
            decision.releaseUnused(object);
            return miss(decision, ForwardReason.URI_MISS);
        }
        if (reuse instanceof Reuse.NotUsable notUsable) {
            if (notUsable.reason() != Reuse.NotUsableReason.VARY) {
                decision.fallbackHead(object.head());
            }
            decision.releaseUnused(object);
            return miss(decision, reasonOf(notUsable.reason()));
        }
        decision.releaseUnused(object);
        return miss(decision, ForwardReason.MISS);
    }

    /**
     * Returns false if the stored response of a forward-proxy request may come from a destination that is denied now.
     * The address of its origin is not stored. Therefore responses from before the last change of the destinations are
     * validated, and the new connection is checked.
     */
    private boolean mayStillBeServed(Decision decision, StoredHead head) {
        return !decision.mapped().rule().isForwarding()
                || shared.settings().get().forward().holdsSince(head.requestTimeMillis());
    }

    private long purgeStamp(Decision decision, StoredObject<StoredHead> object, Outdated kind) {
        return shared.invalidator().invalidations().purgeStamp(decision.keyUrl(), object.head(), object.length(), kind);
    }

    /** Returns true if the stored response answers without a prior request to the origin. */
    private static boolean isAnswer(Reuse reuse) {
        return !(reuse instanceof Reuse.Validate)
                && !(reuse instanceof Reuse.NotUsable)
                && !(reuse instanceof Reuse.Invalidated);
    }

    private static ForwardReason reasonOf(Reuse.NotUsableReason reason) {
        return switch (reason) {
            case VARY -> ForwardReason.VARY_MISS;
            case REQUEST_NO_CACHE, AUTHORIZATION -> ForwardReason.REQUEST;
            case DISABLED, METHOD, REQUEST_CONTENT, COOKIES -> ForwardReason.MISS;
        };
    }

    /**
     * Serves a reusable response if the requested bytes are stored. If If-Match or If-Unmodified-Since is false for the
     * stored response, the request is sent to the origin: a cache must not refuse by these fields (RFC 9111 s4.3.2).
     */
    private static Decision available(Decision decision, StoredObject<StoredHead> object, DecisionKind kind) {
        StoredParts parts = StoredParts.of(decision.request(), object);
        if (parts == StoredParts.PRESENT) {
            return decision.serve(kind, object);
        }
        boolean isHead = decision.request().method() == Method.HEAD;
        if (parts == StoredParts.MISSING && kind == DecisionKind.FRESH && !isHead && !isOnlyIfCached(decision)) {
            return decision.forward(DecisionKind.COMPLETE, ForwardReason.PARTIAL)
                    .serve(DecisionKind.COMPLETE, object);
        }
        decision.releaseUnused(object);
        return parts == StoredParts.REFUSED && !isOnlyIfCached(decision)
                ? decision.forward(DecisionKind.PASS, ForwardReason.REQUEST)
                : miss(decision, parts == StoredParts.MISSING ? ForwardReason.PARTIAL : ForwardReason.MISS);
    }

    private static ForwardReason reasonOf(Reuse.ValidateReason reason) {
        return switch (reason) {
            case STALE, NO_CACHE, WHEN_TO_REVALIDATE -> ForwardReason.STALE;
            case REQUEST_NO_CACHE, REQUEST_MAX_AGE, REQUEST_MIN_FRESH, AUTHORIZATION -> ForwardReason.REQUEST;
        };
    }

    private Decision validate(Decision decision, StoredObject<StoredHead> object, ForwardReason reason) {
        if (isOnlyIfCached(decision) || StoredParts.isPart(object.head())) {
            decision.releaseUnused(object);
            return miss(decision, reason);
        }
        if (decision.request().method() == Method.HEAD) {
            return decision.forward(DecisionKind.PASS, reason).serve(DecisionKind.PASS, object);
        }
        decision.fallbackHead(object.head());
        return decision.forward(DecisionKind.VALIDATE, reason).serve(DecisionKind.VALIDATE, object);
    }

    private static Decision miss(Decision decision, ForwardReason reason) {
        if (isOnlyIfCached(decision)) {
            return decision.forward(DecisionKind.UNAVAILABLE, reason);
        }
        boolean isHead = decision.request().method() == Method.HEAD;
        return decision.forward(isHead ? DecisionKind.PASS : DecisionKind.MISS, reason);
    }

    private static boolean isOnlyIfCached(Decision decision) {
        FieldSection fields = decision.request().fields();
        return fields.contains(FieldName.CACHE_CONTROL)
                && CacheControl.ofRequest(fields).isOnlyIfCached();
    }

    private static boolean isDynamic(RequestHead request, CacheSettings settings) {
        return !settings.storing().dynamicUrls() && DynamicUrls.looksDynamic(request.target());
    }
}
