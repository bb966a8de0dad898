package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.CacheKey;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.VariantKey;
import io.millrace.proxy.http.FieldSection;
import io.millrace.store.CacheStore;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

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
        StoredHead present = marker(primary, plan.marker());
        if (present == null && stored.variance().isNone()) {
            return primary;
        }
        StoredHead marker = stored.variance()
                .markerAfter(
                        present,
                        ThreadLocalRandom.current().nextLong(),
                        shared.clock().millis());
        if (!marker.equals(present)) {
            ObjectWriter<StoredHead> writer = shared.store().create(primary, volumeFor(plan));
            writer.head(marker, 0);
            writer.complete(0);
        }
        return keyOf(shared.store(), primary, marker, plan.request().fields());
    }

    /** Name of the volume for the response. */
    String volumeFor(LegPlan plan) {
        return shared.settings().get().volumes().volume(plan.request().target(), plan.mapped());
    }

    /** The marker in force: another fetch may have written one since this one's lookup. */
    private @Nullable StoredHead marker(StoreKey primary, @Nullable StoredHead seen) {
        StoredObject<StoredHead> now = shared.store().get(primary);
        if (now == null) {
            // Neither in RAM nor on disk: purged since the lookup. The old marker must not lead to the old variants
            // again.
            return shared.store().contains(primary) ? seen : null;
        }
        StoredHead head = now.head();
        now.release();
        return head.isVaryMarker() ? head : null;
    }

    /** The key of the variant that a request selects. */
    static StoreKey keyOf(
            CacheStore<StoredHead> store, StoreKey primary, StoredHead marker, FieldSection requestFields) {
        return store.key(VariantKey.of(primary.bytes(), marker, requestFields));
    }
}
