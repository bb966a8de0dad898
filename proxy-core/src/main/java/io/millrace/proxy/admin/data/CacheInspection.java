package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.cache.LookupSource;
import io.millrace.proxy.caching.Freshness;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.reuse.VariantKey;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetResult;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.proxy.remap.EffectiveCacheSettings;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.server.ProxyView;
import io.millrace.store.CacheStore;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Looks up stored responses without side effects. It explains how a request would use them.
 *
 * <p>Thread-safe.
 */
public final class CacheInspection implements LookupSource {
    private final ProxyView proxy;

    public CacheInspection(ProxyView proxy) {
        this.proxy = proxy;
    }

    /** The lookup of one cache key of a URL. */
    private final class Inquiry {
        final TargetUri url;
        final RequestHead request;
        final @Nullable Mapped mapped;
        final @Nullable EffectiveCacheSettings effective;
        final CompletableFuture<LookupReport> report = new CompletableFuture<>();
        StoreKey key;
        String tier = "ram";
        /**
         * True once the lookup has found a Vary marker (which names the fields of variants) and uses the key of a
         * variant.
         */
        boolean throughMarker;

        Inquiry(TargetUri url, RequestHead request, @Nullable Mapped mapped, CacheKey key) {
            this.url = url;
            this.request = request;
            this.mapped = mapped;
            // The client's address is unknown, so rules with an address do not match.
            this.effective = mapped == null
                    ? null
                    : proxy.settings()
                            .cacheRules()
                            .match(mapped, request, null, proxy.shared().clock().millis());
            this.key = proxy.store().key(key.bytes());
        }
    }

    @Override
    public CompletionStage<LookupReport> lookup(String url, List<Field> fields) {
        TargetResult parsed = TargetUri.parseAbsolute(url);
        if (!(parsed instanceof TargetUri target)) {
            return CompletableFuture.failedFuture(DataPlaneAdmin.notUrl(url));
        }
        FieldSection.Builder builder = FieldSection.builder();
        for (Field field : fields) {
            builder.add(field.name(), field.value());
        }
        return lookup(target, RequestHead.of("GET", target, builder.build()));
    }

    /** Looks up each key of the URL; there are several if remap rules depend on the port. */
    private CompletionStage<LookupReport> lookup(TargetUri target, RequestHead request) {
        List<Mapped> found = proxy.settings().remap().matches(target);
        List<CacheKey> keys = proxy.settings().remap().keys(target);
        CompletionStage<LookupReport> first = null;
        CompletionStage<List<LookupReport>> others = CompletableFuture.completedFuture(List.of());
        for (int i = 0; i < keys.size(); i++) {
            Inquiry inquiry = new Inquiry(target, request, i < found.size() ? found.get(i) : null, keys.get(i));
            lookUpKey(inquiry);
            if (first == null) {
                first = inquiry.report;
            } else {
                others = others.thenCombine(inquiry.report, CacheInspection::appended);
            }
        }
        return Objects.requireNonNull(first, "first")
                .thenCombine(
                        others,
                        (report, rest) -> new LookupReport(
                                report.url(), report.key(), report.rule(), report.stored(), report.reason(), rest));
    }

    private static List<LookupReport> appended(List<LookupReport> some, LookupReport one) {
        List<LookupReport> all = new ArrayList<>(some);
        all.add(one);
        return List.copyOf(all);
    }

    private void lookUpKey(Inquiry inquiry) {
        CacheStore<StoredHead> store = proxy.store();
        StoredObject<StoredHead> resident = store.get(inquiry.key);
        if (resident != null) {
            onFound(inquiry, resident);
        } else if (store.contains(inquiry.key)) {
            inquiry.tier = "disk";
            store.open(inquiry.key, proxy.loops().get(0).loop(), object -> onFound(inquiry, object));
        } else {
            onFound(inquiry, null);
        }
    }

    private void onFound(Inquiry inquiry, @Nullable StoredObject<StoredHead> object) {
        if (object == null) {
            answer(
                    inquiry,
                    null,
                    inquiry.throughMarker ? "nothing is stored for these request fields" : "nothing is stored");
            return;
        }
        StoredHead head = object.head();
        long length = object.length();
        boolean complete = object.isComplete();
        object.release();
        if (!complete) {
            answer(inquiry, null, "only a part of the body is stored: a request is a miss");
            return;
        }
        if (head.isVaryMarker() && !inquiry.throughMarker) {
            inquiry.throughMarker = true;
            inquiry.tier = "ram";
            EffectiveCacheSettings effective = inquiry.effective;
            EncodingRules encoding = effective == null
                    ? EncodingRules.NONE
                    : effective.settings().encoding();
            inquiry.key =
                    proxy.store().key(VariantKey.of(inquiry.key.bytes(), head, inquiry.request.fields(), encoding));
            lookUpKey(inquiry);
            return;
        }
        long nowMillis = proxy.shared().clock().millis();
        long lifetimeSeconds = lifetimeSeconds(inquiry, head);
        Stored stored = new Stored(
                inquiry.tier,
                head.status(),
                lifetimeSeconds > head.currentAgeSeconds(nowMillis) && outdated(inquiry, head, length) == null,
                head.currentAgeSeconds(nowMillis),
                lifetimeSeconds,
                length,
                head.variance().selectors(),
                head.entityTag(),
                head.fields().get(FieldName.LAST_MODIFIED),
                head.tags().texts());
        answer(inquiry, stored, reason(inquiry, head, length, nowMillis));
    }

    /** Returns the lifetime by the rules that match now, else the lifetime stored with the response. */
    private static long lifetimeSeconds(Inquiry inquiry, StoredHead head) {
        EffectiveCacheSettings effective = inquiry.effective;
        return effective == null
                ? head.lifetimeSeconds()
                : effective.settings().lifetimes().lifetimeSeconds(head);
    }

    private TargetUri keyUrl(Inquiry inquiry) {
        return inquiry.mapped == null
                ? proxy.settings().remap().keyUrl(inquiry.url)
                : inquiry.mapped.keyUrl(inquiry.url);
    }

    private @Nullable Outdated outdated(Inquiry inquiry, StoredHead head, long length) {
        return proxy.shared().invalidator().invalidations().of(keyUrl(inquiry), head, length);
    }

    private String reason(Inquiry inquiry, StoredHead head, long length, long nowMillis) {
        EffectiveCacheSettings effective = inquiry.effective;
        String lifetime = lifetimeText(inquiry, head) + ", age " + head.currentAgeSeconds(nowMillis) + " s";
        if (head.pinnedUntilSeconds() > Math.floorDiv(nowMillis, 1000L)) {
            lifetime += ", pinned until " + Instant.ofEpochSecond(head.pinnedUntilSeconds());
        }
        if (effective == null) {
            return "stored (" + lifetime + "), but no remap rule maps the URL now: a request gets 404";
        }
        TargetUri keyUrl = keyUrl(inquiry);
        Outdated outdated = outdated(inquiry, head, length);
        Reuse reuse = Reuse.of(inquiry.request, head, nowMillis, effective.settings(), outdated);
        if (reuse instanceof Reuse.Invalidated invalidated) {
            return (invalidated.kind().isSoft()
                            ? "a request is validated at the origin first: "
                            : "a request is a miss: ")
                    + invalidated.kind().detail() + ", the response was fetched under stamp " + head.stamp()
                    + purge(keyUrl, head, length, invalidated.kind()) + ", " + lifetime;
        }
        if (reuse instanceof Reuse.Fresh) {
            return "a request is answered from the cache: fresh, " + lifetime;
        }
        if (reuse instanceof Reuse.Validate validate) {
            return "a request is validated at the origin first: "
                    + validate.reason().text() + ", " + lifetime;
        }
        if (reuse instanceof Reuse.NotUsable notUsable) {
            return "a request is not answered from the stored response: "
                    + notUsable.reason().text() + ", " + lifetime;
        }
        return "a request is answered from the cache though stale: " + lifetime;
    }

    private static String lifetimeText(Inquiry inquiry, StoredHead head) {
        EffectiveCacheSettings effective = inquiry.effective;
        long seconds = lifetimeSeconds(inquiry, head);
        String source = head.lifetimeSource().text();
        if (head.isPurgedSoftly()) {
            long secondsBefore = effective == null ? -1 : Freshness.secondsByFields(head, effective.settings());
            return "lifetime ended after " + seconds + " s by a soft purge by pattern"
                    + (secondsBefore < 0 ? "" : " (it was " + secondsBefore + " s by " + source + ")");
        }
        if (effective != null && effective.settings().lifetimes().isForced(head)) {
            source = effective.text();
        }
        return "lifetime " + seconds + " s by " + source;
    }

    private String purge(TargetUri keyUrl, StoredHead head, long length, Outdated outdated) {
        long stamp = proxy.shared().invalidator().invalidations().purgeStamp(keyUrl, head, length, outdated);
        return stamp == 0 ? "" : ", before purge " + PurgeId.ofStamp(stamp);
    }

    private static void answer(Inquiry inquiry, @Nullable Stored stored, String reason) {
        Mapped mapped = inquiry.mapped;
        String rules = inquiry.effective == null ? null : inquiry.effective.text();
        String because = rules == null ? reason : reason + "; the request is matched by " + rules;
        inquiry.report.complete(new LookupReport(
                inquiry.url.asString(),
                mapped == null ? null : mapped.key(inquiry.url).asString(),
                mapped == null ? null : mapped.rule().toString(),
                stored,
                stored == null && mapped == null ? "no remap rule maps this URL: a request gets 404" : because));
    }
}
