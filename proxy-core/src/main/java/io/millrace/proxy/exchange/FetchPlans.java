package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.validate.PartialContent;
import io.millrace.proxy.caching.validate.RangeSelection;
import io.millrace.proxy.caching.validate.StrongValidator;
import io.millrace.proxy.config.key.FillConfig;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.RangeRequest;
import io.millrace.proxy.exchange.decide.StoredParts;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.Counter;
import io.millrace.store.StoredObject;
import org.jspecify.annotations.Nullable;

/**
 * Builds the fetch plans of an exchange. A plan is for the unchanged request, the whole representation, a range, or the
 * missing end of a stored part. Also decides whether other exchanges may join the fetch.
 *
 * <p>Confined to one event loop.
 */
final class FetchPlans {
    private final ExchangeLoop exchangeLoop;
    private final RequestHead request;
    private final ClientConnection client;
    private final long contentLength;

    FetchPlans(ExchangeLoop exchangeLoop, RequestHead request, ClientConnection client, long contentLength) {
        this.exchangeLoop = exchangeLoop;
        this.request = request;
        this.client = client;
        this.contentLength = contentLength;
    }

    /** Returns a plan that sends the client's request unchanged. */
    FetchPlan pass(Decision decision) {
        return FetchPlan.pass(decision, client, contentLength);
    }

    /** Returns a plan for the whole representation that no other exchange can join. */
    FetchPlan whole(Decision decision) {
        return FetchPlan.fill(decision, client, false);
    }

    /** Returns the plan for a request that no stored response can answer. */
    FetchPlan miss(Decision decision, boolean mayShare) {
        if (isSentUnchanged(decision)) {
            return pass(decision);
        }
        boolean shared = mayShare && canShare(decision);
        boolean fetchesWhole = decision.fillConfig().fetchesWholeForRange() || isTransforming(decision);
        RangeRequest range = fetchesWhole ? null : rangeToFetch();
        return range == null
                ? FetchPlan.fill(decision, client, shared)
                : FetchPlan.part(decision, client, shared, range);
    }

    /** Returns true if extensions may transform the content, so that parts of it cannot be fetched. */
    private static boolean isTransforming(Decision decision) {
        return decision.hooks() != null && decision.hooks().transformsBodies();
    }

    /**
     * Returns true if the request is sent to the origin unchanged. If the settings fetch the whole content for a range,
     * this is the case for a range far after the first byte; otherwise for a request of several ranges.
     */
    private boolean isSentUnchanged(Decision decision) {
        return decision.fillConfig().fetchesWholeForRange() ? isRangeFarAhead() : RangeRequest.isMultiRange(request);
    }

    /** Returns a conditional request with the validators of the stored response. Retains the object. */
    FetchPlan validation(Decision decision, StoredObject<StoredHead> stale) {
        boolean shared = canShare(decision);
        return FetchPlan.validate(decision, client, stale.retain(), shared);
    }

    /**
     * Returns the plan for the bytes after a stored first part.
     *
     * @param object a stored part; its reference is taken over when there is a plan
     * @return null if the part does not start at the first byte, or the request is for a range
     */
    @Nullable
    FetchPlan rest(Decision decision, StoredObject<StoredHead> object) {
        if (!canFetchRest(object) || isTransforming(decision)) {
            return null;
        }
        ContentRange part = PartialContent.rangeOf(object.head());
        RangeRequest rest = RangeRequest.from(part.end(), StrongValidator.ifRange(object.head()));
        return FetchPlan.rest(decision, client, object, rest);
    }

    private boolean canFetchRest(StoredObject<StoredHead> object) {
        return PartialContent.rangeOf(object.head()).first() == 0
                && rangeToFetch() == null
                && !RangeRequest.isMultiRange(request);
    }

    /**
     * Returns the fetch in flight that an exchange with this decision would join; null if it would join none. Has no
     * side effects.
     */
    @Nullable
    SharedFetch fetchToJoin(Decision decision) {
        StoredObject<StoredHead> stored = decision.object();
        boolean shared =
                switch (decision.kind()) {
                    case MISS -> isMissShared(decision);
                    case VALIDATE -> isSharingConfigured(decision) && !isKnownUncacheable(decision);
                    case COMPLETE ->
                        stored != null
                                && StoredParts.isPart(stored.head())
                                && (canFetchRest(stored) || isMissShared(decision));
                    case SERVE_STALE -> decision.isValidatingInBackground();
                    default -> false;
                };
        SharedFetch other = shared ? exchangeLoop.collapser().find(decision.key()) : null;
        if (other == null || other.isOutdated()) {
            return null;
        }
        return !other.isPart() && isRangeFarAhead() ? null : other;
    }

    private boolean isMissShared(Decision decision) {
        return !isSentUnchanged(decision) && isSharingConfigured(decision) && !isKnownUncacheable(decision);
    }

    /**
     * Returns true if the requested range starts far after the first byte. Such a request is sent to the origin
     * unchanged. In a fetch of the whole representation, the client would wait for all bytes before its range.
     */
    boolean isRangeFarAhead() {
        return request.fields().contains(FieldName.RANGE)
                && RangeSelection.of(request.fields(), Long.MAX_VALUE) instanceof RangeSelection.Single single
                && single.range().first() > exchangeLoop.settings().fillWindowBytes();
    }

    private @Nullable RangeRequest rangeToFetch() {
        boolean ranged = request.method() == Method.GET && request.fields().contains(FieldName.RANGE);
        return ranged ? RangeRequest.forMiss(request) : null;
    }

    /**
     * Returns true if other exchanges may wait for a fetch. False if {@code read_while_writing} forbids it, or while
     * the key is known to be uncacheable. Counts the fetches for uncacheable keys.
     */
    private boolean canShare(Decision decision) {
        if (!isSharingConfigured(decision)) {
            return false;
        }
        boolean uncacheable = isKnownUncacheable(decision);
        if (uncacheable) {
            exchangeLoop.counters().increment(Counter.COLLAPSED_UNCACHEABLE);
        }
        return !uncacheable;
    }

    private boolean isSharingConfigured(Decision decision) {
        FillConfig.ReadWhileWriting mode = decision.fillConfig().readWhileWriting();
        return mode != FillConfig.ReadWhileWriting.NEVER
                && (mode != FillConfig.ReadWhileWriting.NOT_FOR_RANGES
                        || !request.fields().contains(FieldName.RANGE));
    }

    private boolean isKnownUncacheable(Decision decision) {
        return exchangeLoop
                .uncacheable()
                .contains(decision.key(), exchangeLoop.clock().millis());
    }
}
