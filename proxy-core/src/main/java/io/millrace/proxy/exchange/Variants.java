package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.CacheKey;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.VariantKey;
import io.millrace.proxy.http.FieldSection;
import io.millrace.store.CacheStore;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreKey;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Where a response goes in the store: under its URL's primary key, or, when it varies, under a variant's key with a marker under
 * the primary one.
 *
 * <p>Thread-safe: no state of its own.
 */
final class Variants {
    private final ExchangeLoop.Shared shared;

    Variants(ExchangeLoop.Shared shared) {
        this.shared = shared;
    }

    /** The key for a response that is about to be stored; writes the marker where a new one is needed. */
    StoreKey keyFor(LegPlan plan, StoredHead stored) {
        StoreKey primary = plan.primaryKey();
        if (primary == null) {
            primary = shared.store().key(CacheKey.of(plan.request().target()).bytes());
        }
        if (stored.variance().isNone()) {
            return primary;
        }
        StoredHead present = plan.marker();
        StoredHead marker = stored.variance()
                .markerAfter(
                        present,
                        ThreadLocalRandom.current().nextLong(),
                        shared.clock().millis());
        if (!marker.equals(present)) {
            ObjectWriter<StoredHead> writer = shared.store().create(primary);
            writer.head(marker, 0);
            writer.complete(0);
        }
        return keyOf(shared.store(), primary, marker, plan.request().fields());
    }

    /** The key of the variant that a request selects. */
    static StoreKey keyOf(
            CacheStore<StoredHead> store, StoreKey primary, StoredHead marker, FieldSection requestFields) {
        return store.key(VariantKey.of(primary.bytes(), marker, requestFields));
    }
}
