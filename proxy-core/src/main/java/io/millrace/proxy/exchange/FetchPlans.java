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
 * What an exchange asks the origin for: the request as it came, the whole representation, the part that is wanted of it, or the
 * rest of a stored one; and whether others may wait for the answer.
 *
 * <p>Confined to one event loop.
 */
final class FetchPlans {
    private final ExchangeLoop home;
    private final RequestHead request;
    private final ClientConnection client;
    private final long contentLength;

    FetchPlans(ExchangeLoop home, RequestHead request, ClientConnection client, long contentLength) {
        this.home = home;
        this.request = request;
        this.client = client;
        this.contentLength = contentLength;
    }

    FetchPlan pass(Decision decision) {
        return FetchPlan.pass(decision, client, contentLength);
    }

    /** The whole, without anybody else waiting for it. */
    FetchPlan whole(Decision decision) {
        return FetchPlan.fill(decision, client, false);
    }

    /** What to ask for when nothing that is stored can be used. */
    FetchPlan miss(Decision decision, boolean mayShare) {
        if (isSentAsItIs(decision)) {
            return pass(decision);
        }
        boolean shared = mayShare && mayWait(decision);
        RangeRequest range = decision.fillConfig().rangeWrite() ? null : rangeToFetch();
        return range == null
                ? FetchPlan.fill(decision, client, shared)
                : FetchPlan.part(decision, client, shared, range);
    }

    private boolean isSentAsItIs(Decision decision) {
        return decision.fillConfig().rangeWrite() ? isRangeFarAhead() : RangeRequest.isMultiRange(request);
    }

    /** The stored response with its validators; borrows the object. */
    FetchPlan validation(Decision decision, StoredObject<StoredHead> stale) {
        boolean shared = mayWait(decision);
        return FetchPlan.validate(decision, client, stale.retain(), shared);
    }

    /**
     * The rest of a stored part.
     *
     * @param object a stored part; its reference is taken over when there is a plan
     * @return null when the part is not the beginning, or not all is wanted
     */
    @Nullable
    FetchPlan rest(Decision decision, StoredObject<StoredHead> object) {
        if (!isRestAskedFor(object)) {
            return null;
        }
        ContentRange part = PartialContent.rangeOf(object.head());
        RangeRequest rest = RangeRequest.from(part.end(), StrongValidator.ifRange(object.head()));
        return FetchPlan.rest(decision, client, object, rest);
    }

    private boolean isRestAskedFor(StoredObject<StoredHead> object) {
        return PartialContent.rangeOf(object.head()).first() == 0
                && rangeToFetch() == null
                && !RangeRequest.isMultiRange(request);
    }

    /** The fetch under way that an exchange would wait for, where it has to fetch; null where it would begin its own. Changes nothing. */
    @Nullable
    SharedFetch underWay(Decision decision) {
        StoredObject<StoredHead> stored = decision.object();
        boolean shared =
                switch (decision.kind()) {
                    case MISS -> isMissShared(decision);
                    case VALIDATE -> isSharedByRule(decision) && !isKnownUncacheable(decision);
                    case COMPLETE ->
                        stored != null
                                && StoredParts.isPart(stored.head())
                                && (isRestAskedFor(stored) || isMissShared(decision));
                    case SERVE_STALE -> decision.isValidatingAside();
                    default -> false;
                };
        SharedFetch other = shared ? home.collapser().find(decision.key()) : null;
        if (other == null || other.isOutdated()) {
            return null;
        }
        return !other.isPart() && isRangeFarAhead() ? null : other;
    }

    private boolean isMissShared(Decision decision) {
        return !isSentAsItIs(decision) && isSharedByRule(decision) && !isKnownUncacheable(decision);
    }

    /**
     * Whether the request wants bytes that a fetch of the whole would bring late: then it goes to the origin as it is, since the
     * client would wait for everything before them.
     */
    boolean isRangeFarAhead() {
        return request.fields().contains(FieldName.RANGE)
                && RangeSelection.of(request.fields(), Long.MAX_VALUE) instanceof RangeSelection.Single single
                && single.range().first() > home.settings().fillWindowBytes();
    }

    private @Nullable RangeRequest rangeToFetch() {
        boolean ranged = request.method() == Method.GET && request.fields().contains(FieldName.RANGE);
        return ranged ? RangeRequest.forMiss(request) : null;
    }

    /**
     * Whether a fetch may be waited for by others: not where an operator does not want it, and not while its key is known for
     * responses that cannot be stored.
     */
    private boolean mayWait(Decision decision) {
        if (!isSharedByRule(decision)) {
            return false;
        }
        boolean uncacheable = isKnownUncacheable(decision);
        if (uncacheable) {
            home.counters().increment(Counter.COLLAPSED_UNCACHEABLE);
        }
        return !uncacheable;
    }

    private boolean isSharedByRule(Decision decision) {
        FillConfig.ReadWhileWriting mode = decision.fillConfig().readWhileWriting();
        return mode != FillConfig.ReadWhileWriting.NEVER
                && (mode != FillConfig.ReadWhileWriting.NOT_FOR_RANGES
                        || !request.fields().contains(FieldName.RANGE));
    }

    private boolean isKnownUncacheable(Decision decision) {
        return home.uncacheable().contains(decision.key(), home.clock().millis());
    }
}
