package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.VariantKey;
import io.millrace.proxy.caching.reuse.VariantList;
import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.caching.validate.Validation;
import io.millrace.proxy.exchange.settings.DecisionInputs;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.store.CacheStore;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Determines the store key of a response: the URL's primary key, or the key of a variant if the response varies. For
 * variants, this class stores a Vary marker under the primary key. The marker is a record of the variants, and of the
 * request fields that select one of them.
 *
 * <p>Confined to one event loop.
 */
public final class Variants {
    private static final Logger log = LoggerFactory.getLogger(Variants.class);

    private final DecisionInputs shared;
    private final LoopCounters counters;
    private final FaultLog faults = new FaultLog(log, TimeUnit.MINUTES.toNanos(1), System::nanoTime);

    public Variants(DecisionInputs shared, LoopCounters counters) {
        this.shared = shared;
        this.counters = counters;
    }

    /** Returns the key for a response that is about to be stored. Writes a Vary marker if needed. */
    public StoreKey keyFor(StoringTarget plan, StoredHead stored) {
        StoreKey primary = plan.primaryKey();
        if (primary == null) {
            primary = shared.store().key(plan.primaryBytes());
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
        byte[] values = marker.variance()
                .valuesOf(plan.request().fields(), plan.cacheSettings().encoding());
        boolean listed = VariantList.contains(marker, values);
        if (!listed) {
            addToMarker(plan, primary, pinned(marker, plan, stored), values);
        } else if (stored.pinnedUntilSeconds() > marker.pinnedUntilSeconds()) {
            write(plan, primary, pinned(marker, plan, stored));
        }
        return shared.store().key(VariantKey.of(primary.bytes(), marker, values));
    }

    /**
     * Writes the marker with one more variant, and removes variants beyond the limit. If two variants are stored for
     * the first time at the same moment, the marker may list only one of them. The other variant can still be found,
     * but does not count towards the limit.
     */
    private void addToMarker(StoringTarget plan, StoreKey primary, StoredHead marker, byte[] values) {
        VariantList.Added added =
                VariantList.add(marker, values, plan.cacheSettings().storing().variantsMax());
        write(plan, primary, added.marker());
        for (byte[] dropped : added.dropped()) {
            StoreKey key = shared.store().key(VariantKey.of(primary.bytes(), marker, dropped));
            shared.store().remove(key, Runnable::run, (wasPresent, failure) -> {});
        }
        if (added.mostVaried() != null) {
            counters.add(Counter.VARIANTS_DROPPED, added.dropped().size());
            faults.report(
                    "a URL has more variants than cache.variants_max allows",
                    added.mostVaried() + " has the most different values, for "
                            + plan.request().target().asString(),
                    null);
        }
    }

    /**
     * Extends the pin of the Vary marker after the pin of a variant was extended. The store keeps an object at least
     * until its pin ends.
     *
     * @return whether the marker was written
     */
    public boolean pinMarker(StoringTarget plan, StoredHead variant) {
        StoreKey primary = plan.primaryKey();
        StoredHead seen = plan.marker();
        if (primary == null || seen == null || variant.pinnedUntilSeconds() <= seen.pinnedUntilSeconds()) {
            return false;
        }
        StoredHead current = marker(primary, seen);
        if (current == null || variant.pinnedUntilSeconds() <= current.pinnedUntilSeconds()) {
            return false;
        }
        write(plan, primary, pinned(current, plan, variant));
        return true;
    }

    /**
     * Removes the marker, because the URL was purged while the marker was written. The marker must not lead to purged
     * variants.
     */
    public void removeMarker(StoringTarget plan) {
        StoreKey primary = plan.primaryKey();
        shared.store()
                .remove(
                        primary == null ? shared.store().key(plan.primaryBytes()) : primary,
                        Runnable::run,
                        (wasPresent, failure) -> {});
    }

    /**
     * Removes the stored variants in other codings, if the rule compresses. They have the same content as this
     * request's old variant, which is outdated. Otherwise the proxy could make an outdated response from them.
     *
     * @param current fields with the validators of the current content, whose variants are kept; null to remove all
     */
    public void removeOtherCodings(StoringTarget plan, @Nullable FieldSection current) {
        if (plan.cacheSettings().encoding().isOff()) {
            return;
        }
        StoreKey primary = plan.primaryKey();
        StoredHead marker = primary == null ? null : marker(primary, plan.marker());
        EncodingRules rules = plan.cacheSettings().encoding();
        if (primary == null || marker == null || !marker.variance().names().contains(FieldName.ACCEPT_ENCODING)) {
            return;
        }
        FieldSection fields = plan.request().fields();
        String ownForm = rules.normalForm(fields);
        for (String form : rules.normalForms()) {
            byte[] values = marker.variance().valuesOf(fieldsFor(fields, form), rules);
            if (!form.equals(ownForm) && VariantList.contains(marker, values)) {
                removeUnlessCurrent(shared.store().key(VariantKey.of(primary.bytes(), marker, values)), current);
            }
        }
        if (!rules.dictionaries().isOff()) {
            for (byte[] values :
                    VariantList.withDictionary(marker, marker.variance().valuesOf(fields, rules))) {
                removeUnlessCurrent(shared.store().key(VariantKey.of(primary.bytes(), marker, values)), current);
            }
        }
    }

    private void removeUnlessCurrent(StoreKey key, @Nullable FieldSection current) {
        CacheStore<StoredHead> store = shared.store();
        if (current == null) {
            store.remove(key, Runnable::run, (wasPresent, failure) -> {});
            return;
        }
        StoredObject<StoredHead> inRam = store.get(key);
        if (inRam != null) {
            discardUnlessCurrent(inRam, current);
        } else if (store.contains(key)) {
            store.open(key, Runnable::run, object -> {
                if (object != null) {
                    discardUnlessCurrent(object, current);
                }
            });
        }
    }

    /**
     * Discards the stored variant unless the current validators confirm it. Takes over the reference. Callable from any
     * thread.
     */
    private void discardUnlessCurrent(StoredObject<StoredHead> object, FieldSection current) {
        try {
            if (!Validation.isConfirmed(object.head(), current, shared.clock().millis())) {
                shared.store().discard(object);
            }
        } finally {
            object.release();
        }
    }

    /**
     * Returns a client's request fields, changed so that the client accepts only one coding, and no dictionary.
     *
     * @param form the normal form of Accept-Encoding that names the coding: a result of
     *     {@link EncodingRules#normalForm}
     */
    public static FieldSection fieldsFor(FieldSection requestFields, String form) {
        FieldSection.Builder fields = FieldSection.builder()
                .addAll(requestFields)
                .set(FieldName.ACCEPT_ENCODING, form)
                .remove(DictionaryRules.AVAILABLE_DICTIONARY);
        if (requestFields.hasToken(FieldName.CACHE_CONTROL, "no-transform")) {
            fields.remove(FieldName.CACHE_CONTROL);
        }
        return fields.build();
    }

    /**
     * Returns the marker with a pin that ends one pin period after the variant's pin. So the marker is not written
     * again for every variant.
     */
    private static StoredHead pinned(StoredHead marker, StoringTarget plan, StoredHead variant) {
        long until = variant.pinnedUntilSeconds();
        return marker.withPin(
                until == 0 ? 0 : until + plan.cacheSettings().storing().pinSeconds());
    }

    private void write(StoringTarget plan, StoreKey primary, StoredHead marker) {
        shared.store().countMiss(primary);
        ObjectWriter<StoredHead> writer = shared.store().create(primary, volumeFor(plan));
        writer.head(marker, 0);
        writer.complete(0);
    }

    /** Returns the name of the volume for the response. */
    public String volumeFor(StoringTarget plan) {
        return shared.settings().get().volumes().volume(plan.request().target(), plan.mapped());
    }

    /** Returns the marker in force: another fetch may have written one since the lookup of this fetch. */
    private @Nullable StoredHead marker(StoreKey primary, @Nullable StoredHead seen) {
        StoredObject<StoredHead> inRam = shared.store().get(primary);
        if (inRam == null) {
            // A marker that is neither in RAM nor on disk was purged since the lookup. The old marker must not lead to
            // the old variants again. Without an old marker the key is not looked up: disk admission would count a
            // second request.
            return seen != null && shared.store().contains(primary) ? seen : null;
        }
        StoredHead head = inRam.head();
        inRam.release();
        return head.isVaryMarker() ? head : null;
    }

    /** Returns the key of the variant that a request selects. */
    static StoreKey keyOf(
            CacheStore<StoredHead> store,
            StoreKey primary,
            StoredHead marker,
            FieldSection requestFields,
            EncodingRules encoding) {
        return store.key(VariantKey.of(primary.bytes(), marker, requestFields, encoding));
    }
}
