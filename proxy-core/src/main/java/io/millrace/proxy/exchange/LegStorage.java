package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.Storability;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Validation;
import io.millrace.proxy.fetch.ResponseFraming;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.observe.Counter;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import org.jspecify.annotations.Nullable;

/**
 * What a leg's response does to the store: whether it is stored and under which key, what a 304 changes, and that nothing is
 * stored which a purge has made out of date meanwhile. Other exchanges join the leg under the same key.
 *
 * <p>Confined to the leg's event loop.
 */
final class LegStorage {
    private final ExchangeLoop home;
    private final LegPlan plan;
    private final OriginLeg leg;

    private @Nullable StoreKey joinedUnder;
    private long purgeStamp;

    LegStorage(ExchangeLoop home, LegPlan plan, OriginLeg leg) {
        this.home = home;
        this.plan = plan;
        this.leg = leg;
        this.joinedUnder = plan.collapseKey();
    }

    /** Remembers what is purged from here on; before the request is sent. */
    void begin() {
        purgeStamp = plan.mayStore() ? home.purger().stamp(plan.request().target()) : 0;
    }

    /** What is to be stored of a response, null when nothing is. */
    @Nullable
    StoredHead storable(ResponseHead head, ResponseFraming framing, long requestMillis, long nowMillis) {
        if (!plan.mayStore() || isPurged()) {
            return null;
        }
        if (Storability.of(plan.request(), head, nowMillis, plan.cacheSettings()) instanceof Storability.NotStorable) {
            home.counters().increment(Counter.FILLS_NOT_STORABLE);
            return null;
        }
        StoredHead stored = StoredHead.of(plan.request(), head, requestMillis, nowMillis, plan.cacheSettings());
        return framing.contentLength() < 0 ? stored : stored.withContentLength(framing.contentLength());
    }

    /**
     * Opens the way to the store, under the variant's key where the response varies; from here the leg is joined under that key.
     *
     * @return null when the URL was purged meanwhile
     */
    @Nullable
    ObjectWriter<StoredHead> open(StoredHead stored, ResponseFraming framing) {
        StoreKey key = home.variants().keyFor(plan, stored);
        ObjectWriter<StoredHead> writer =
                home.store().create(key, home.variants().volumeFor(plan));
        // A purge on another thread raises its stamp first and removes then: either its stamp is seen here, or it finds
        // the writer, or the marker that leads to it.
        if (isPurged()) {
            writer.abort();
            return null;
        }
        writer.head(stored, framing.contentLength());
        if (joinedUnder != null && !joinedUnder.equals(key)) {
            endJoining();
            if (home.collapser().lead(key, leg) == null) {
                joinedUnder = key;
            }
        }
        return writer;
    }

    private boolean isPurged() {
        if (home.purger().stamp(plan.request().target()) == purgeStamp) {
            return false;
        }
        home.counters().increment(Counter.FILLS_INVALIDATED);
        return true;
    }

    /**
     * Freshens the stored response with the origin's 304.
     *
     * @return the head that answers now, null when the 304 speaks of another representation (RFC 9111 s4.3.4)
     */
    @Nullable
    StoredHead freshen(StoredObject<StoredHead> stale, ResponseHead notModified, long requestMillis) {
        Validation.Outcome outcome = Validation.freshen(
                plan.request(),
                stale.head(),
                notModified,
                requestMillis,
                home.clock().millis(),
                plan.cacheSettings());
        if (outcome instanceof Validation.Freshened freshened) {
            home.store().update(stale, freshened.head());
            return freshened.head();
        }
        if (outcome instanceof Validation.Unstorable unstorable) {
            if (unstorable.isRemoved()) {
                home.store().remove(stale.key(), home.loop(), (wasPresent, failure) -> {});
            }
            return unstorable.head();
        }
        return null;
    }

    /** Nobody joins the leg from here on. */
    void endJoining() {
        if (joinedUnder != null) {
            home.collapser().remove(joinedUnder, leg);
            joinedUnder = null;
        }
    }
}
