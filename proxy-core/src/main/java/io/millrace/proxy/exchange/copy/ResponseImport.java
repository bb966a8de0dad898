package io.millrace.proxy.exchange.copy;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.encoding.EncodedHeads;
import io.millrace.proxy.caching.reuse.VariantKey;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.exchange.decide.StoringTarget;
import io.millrace.proxy.exchange.decide.Variants;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.exchange.settings.WallClock;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.PurgePoint;
import io.millrace.proxy.purge.Purger;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.proxy.purge.record.RemovalTimes;
import io.millrace.proxy.remap.Mapped;
import io.millrace.store.CacheStore;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a response from another cache is stored, and opens the writer for it. The rules are the same as for a
 * response of this age that was just received from another cache. The import is refused if a purge since the response
 * was fetched may cover it, or if a newer response is stored.
 *
 * <p>Confined to the event loop of its components. For a single use.
 */
public final class ResponseImport {
    private static final String NEWER_STORED = "newer-stored";

    private final Components components;
    private final CopiedResponse copied;
    private final Reply reply;
    private @Nullable Target target;

    /**
     * The components of a proxy that an import uses.
     *
     * @param loop the event loop of the import
     * @param variants determines store keys; confined to this loop
     */
    public record Components(
            CacheStore<StoredHead> store,
            Purger purger,
            Invalidator invalidator,
            RemovalTimes removals,
            Supplier<ExchangeSettings> settings,
            WallClock clock,
            Variants variants,
            Executor loop) {}

    /** Receives the result. */
    @FunctionalInterface
    public interface Reply {
        /**
         * Called once on the event loop.
         *
         * @param opened receives the content; null if the response is refused
         * @param refusal identifier of the reason of a refusal; empty if the response is not refused
         */
        void ready(@Nullable Opened opened, String refusal);
    }

    /** A response that may be stored. Confined to the event loop. */
    public final class Opened {
        private final ObjectWriter<StoredHead> writer;
        private final boolean isPrimary;

        private Opened(ObjectWriter<StoredHead> writer, boolean isPrimary) {
            this.writer = writer;
            this.isPrimary = isPrimary;
        }

        /** The writer for the content. The receiver of {@link Reply#ready} becomes its owner. */
        public ObjectWriter<StoredHead> writer() {
            return writer;
        }

        /**
         * Compares again with the stored response, in RAM and on disk: a fetch may have stored a newer one since the
         * import began. Call before the writer completes. The writer then stores nothing if another event loop stores
         * a response after this comparison: {@link ObjectWriter#isOvertaken}.
         *
         * @param then receives the reason of a refusal (empty for none), immediately or after a disk read
         */
        public void compare(Consumer<String> then) {
            writer.expectUnchanged();
            find((known, present, marker) -> {
                // A response that varies was stored in the meantime. The imported response would replace its Vary
                // marker, the record of the URL's variants.
                boolean isMarkerNew = isPrimary && marker != null && known.marker() == null;
                then.accept(isMarkerNew || isNewer(present, known) ? NEWER_STORED : "");
            });
        }
    }

    /** The rule, the key and the head of the response. */
    private record Target(
            RequestHead request,
            Mapped mapped,
            CacheSettings cacheSettings,
            StoredHead head,
            StoreKey primaryKey,
            int keyHash,
            PurgePoint startPoint,
            @Nullable StoredHead marker)
            implements StoringTarget {
        @Override
        public byte[] primaryBytes() {
            return primaryKey.bytes();
        }

        Target with(StoredHead found) {
            return new Target(request, mapped, cacheSettings, head, primaryKey, keyHash, startPoint, found);
        }
    }

    private ResponseImport(Components components, CopiedResponse copied, Reply reply) {
        this.components = components;
        this.copied = copied;
        this.reply = reply;
    }

    /** Begins an import. The reply is called during this call or after a disk read. */
    public static void begin(Components components, CopiedResponse copied, Reply reply) {
        new ResponseImport(components, copied, reply).begin();
    }

    private void begin() {
        ExchangeSettings settings = components.settings().get();
        if (!(settings.remap().match(copied.url()) instanceof Mapped mapped)) {
            refuse("no-rule");
            return;
        }
        byte[] primary = mapped.key(copied.url()).bytes();
        int keyHash = Purger.keyHash(primary);
        PurgePoint startPoint = components.purger().point(keyHash);
        long nowMillis = components.clock().millis();
        RequestHead request = RequestHead.of("GET", copied.url(), copied.requestFields());
        CacheSettings rules =
                settings.cacheRules().match(mapped, request, null, nowMillis).settings();
        FieldSection fields = fields();
        ResponseHead response = ResponseHead.of(copied.status(), copied.reason(), fields);
        String refusal = refusal(request, response, rules, nowMillis);
        if (refusal != null) {
            refuse(refusal);
            return;
        }
        TargetUri keyUrl = mapped.keyUrl(copied.url());
        StoredHead head = head(request, response, mapped, keyUrl, rules, nowMillis);
        if (isPurged(keyUrl, head, primary)) {
            refuse("purged");
            return;
        }
        target = new Target(request, mapped, rules, head, components.store().key(primary), keyHash, startPoint, null);
        find((known, present, marker) -> {
            if (isNewer(present, known)) {
                refuse(NEWER_STORED);
            } else {
                open(marker == null ? known : known.with(marker));
            }
        });
    }

    /** Returns the response fields with new values of Age and Content-Length. A 204 gets no Content-Length. */
    private FieldSection fields() {
        FieldSection.Builder fields = FieldSection.builder();
        FieldSection source = copied.fields();
        for (int line = 0; line < source.size(); line++) {
            if (!source.isNamed(line, FieldName.AGE) && !source.isNamed(line, FieldName.CONTENT_LENGTH)) {
                fields.addLine(source, line);
            }
        }
        fields.add(FieldName.AGE, Math.max(0, copied.ageSeconds()));
        if (copied.status() != 204) {
            fields.add(FieldName.CONTENT_LENGTH, copied.length());
        }
        return fields.build();
    }

    /** Returns the identifier of the reason why the response is not stored; null if it may be stored. */
    private @Nullable String refusal(RequestHead request, ResponseHead response, CacheSettings rules, long nowMillis) {
        FieldSection fields = response.fields();
        if (!copied.method().equals("GET")) {
            return "method";
        }
        if (!isWhole()) {
            return "length";
        }
        if (fields.contains(FieldName.TRANSFER_ENCODING)) {
            return "transfer-encoding";
        }
        if (fields.contains(FieldName.SET_COOKIE)
                || request.fields().contains(FieldName.COOKIE)
                || request.fields().contains(FieldName.AUTHORIZATION)) {
            return "of-one-client";
        }
        if (Storability.of(request, response, nowMillis, rules) instanceof Storability.NotStorable not) {
            return not.reason().text();
        }
        Variance variance = rules.key().variance(fields);
        if (!variance.isNone() && !copied.hasRequest()) {
            return "no-request";
        }
        return isInOtherCoding(request.fields(), fields, variance, rules.encoding()) ? "other-encoding" : null;
    }

    /**
     * Returns true if the response is not in the content coding of the variant under whose key it would be stored. The
     * other cache chose the coding by its own rules.
     */
    private static boolean isInOtherCoding(
            FieldSection requestFields, FieldSection fields, Variance variance, EncodingRules rules) {
        return !rules.isOff()
                && variance.names().contains(FieldName.ACCEPT_ENCODING)
                && fields.contains(FieldName.CONTENT_ENCODING)
                && !EncodedHeads.isIn(fields, rules.normalForm(requestFields));
    }

    /**
     * Returns true unless a Content-Length differs from the length of the content. If one differs, the content may be
     * incomplete, or the response may belong to a HEAD request.
     */
    private boolean isWhole() {
        FieldSection fields = copied.fields();
        String length = Long.toString(copied.length());
        for (int line = fields.find(FieldName.CONTENT_LENGTH); line >= 0; ) {
            if (!fields.valueEqualsIgnoreCase(line, length)) {
                return false;
            }
            line = fields.next(FieldName.CONTENT_LENGTH, line);
        }
        return true;
    }

    /** Returns the head to store, with the stamp of its fetch. */
    private StoredHead head(
            RequestHead request,
            ResponseHead response,
            Mapped mapped,
            TargetUri keyUrl,
            CacheSettings rules,
            long nowMillis) {
        // A stamp is the number that is compared with the stamps of purges. It must not exceed the stamp of a fetch
        // that begins now. Otherwise, after the clock was set back, later purges would not affect the response. The
        // stamp is at least the first stamp of the journal of purges, because no purge of this cache is older.
        long fetched = Math.max(0, copied.fetchedMillis()) << PurgeId.TIME_SHIFT;
        long stamp = Math.max(
                Math.min(fetched, components.invalidator().stamp()),
                components.invalidator().firstStamp());
        return StoredHead.of(request, response, nowMillis, nowMillis, rules)
                .imported(copied.lifetimeSecondsMax(), copied.packedTags())
                .withStamp(stamp, keyUrl, mapped.rule().config().site())
                .withContentLength(copied.length());
    }

    /** Returns true if a purge since the response was fetched may cover the response. */
    private boolean isPurged(TargetUri keyUrl, StoredHead head, byte[] primary) {
        RemovalTimes removals = components.removals();
        return removals.latest(primary) >= copied.fetchedMillis()
                || removals.latestSwept() >= copied.fetchedMillis()
                || components.invalidator().invalidations().of(keyUrl, head, copied.length()) != null;
    }

    /** Receives the head under a key; null if nothing is stored. */
    @FunctionalInterface
    private interface Found {
        void found(Target known, @Nullable StoredHead head);
    }

    /** Receives the stored head that the import would replace, and the Vary marker; each null if there is none. */
    @FunctionalInterface
    private interface FoundPresent {
        void found(Target known, @Nullable StoredHead present, @Nullable StoredHead marker);
    }

    /** Looks for the head under a key, in RAM and on disk. */
    private void lookUp(StoreKey key, Found then) {
        StoredObject<StoredHead> resident = components.store().get(key);
        if (resident != null) {
            opened(resident, then);
        } else if (components.store().contains(key)) {
            components.store().open(key, components.loop(), object -> openedFromDisk(key, object, then));
        } else {
            opened(null, then);
        }
    }

    /** Prefers an object in RAM, which may have been stored during the disk read. */
    private void openedFromDisk(StoreKey key, @Nullable StoredObject<StoredHead> object, Found then) {
        StoredObject<StoredHead> resident = components.store().get(key);
        if (resident != null && object != null) {
            object.release();
        }
        opened(resident == null ? object : resident, then);
    }

    private void opened(@Nullable StoredObject<StoredHead> object, Found then) {
        StoredHead head = object == null ? null : object.head();
        if (object != null) {
            object.release();
        }
        Target known = target;
        if (known != null) {
            then.found(known, head);
        }
    }

    /** Finds the stored response that the import would replace. */
    private void find(FoundPresent then) {
        Target begun = target;
        if (begun == null) {
            return;
        }
        lookUp(begun.primaryKey(), (known, head) -> {
            if (head == null || !head.isVaryMarker()) {
                then.found(known, head, null);
                return;
            }
            byte[] variant = VariantKey.of(
                    known.primaryBytes(),
                    head,
                    known.request().fields(),
                    known.cacheSettings().encoding());
            lookUp(components.store().key(variant), (same, present) -> then.found(same, present, head));
        });
    }

    private static boolean isNewer(@Nullable StoredHead present, Target known) {
        return present != null && generatedMillis(present) >= generatedMillis(known.head());
    }

    /** Time at which the origin generated or confirmed a response, in epoch milliseconds. */
    private static long generatedMillis(StoredHead head) {
        return head.responseTimeMillis() - head.initialAgeMillis();
    }

    /** Opens the writer, and replies with it or with a refusal. */
    private void open(Target known) {
        target = known;
        Variants variants = components.variants();
        StoreKey key = variants.keyFor(known, known.head());
        components.store().countMiss(key);
        ObjectWriter<StoredHead> writer = components.store().create(key, variants.volumeFor(known));
        // A purge on another thread is either seen here, or finds the new writer or its Vary marker.
        if (components.purger().isPurgedSince(known.keyHash(), known.startPoint())
                || isPurged(known.mapped().keyUrl(copied.url()), known.head(), known.primaryBytes())) {
            writer.abort();
            if (!Arrays.equals(key.bytes(), known.primaryBytes())) {
                variants.removeMarker(known);
            }
            refuse("purged");
            return;
        }
        double share = known.cacheSettings().storing().storageShareMax();
        if (components.settings().get().storesBlocks()
                && copied.length() > writer.bytesMax(share)
                && !writer.isFailed()) {
            writer.abort();
            refuse("over-share");
            return;
        }
        writer.head(known.head(), copied.length());
        reply.ready(new Opened(writer, Arrays.equals(key.bytes(), known.primaryBytes())), "");
    }

    private void refuse(String reason) {
        reply.ready(null, reason);
    }
}
