package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.CurrentAge;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.encoding.EncodedHeads;
import io.millrace.proxy.caching.reuse.StaleServing;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.caching.storing.NoStoreReason;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.caching.validate.PartialContent;
import io.millrace.proxy.caching.validate.StrongValidator;
import io.millrace.proxy.caching.validate.Validation;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.RangeRequest;
import io.millrace.proxy.exchange.forward.FetchedResponse;
import io.millrace.proxy.exchange.forward.LazyStoredHead;
import io.millrace.proxy.exchange.forward.OriginRequests;
import io.millrace.proxy.exchange.report.LeakReports;
import io.millrace.proxy.extension.FetchHooks;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.PurgePoint;
import io.millrace.proxy.purge.Purger;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Decides how the response of a fetch changes the store. It decides whether the response is stored, under which key,
 * and how a 304 updates a stored response. A response is not stored if a purge has outdated it since the fetch began.
 * Also registers the fetch under the response's key, so that other exchanges can join.
 *
 * <p>Confined to the fetch's event loop.
 */
final class FetchStoring {
    private final ExchangeLoop exchangeLoop;
    private final FetchPlan plan;
    private final SharedFetch fetch;

    /** The key under which other exchanges can join the fetch now; null for none. */
    private @Nullable StoreKey joinableKey;
    /** The key of the writer that was opened; null for none. */
    private @Nullable StoreKey storedKey;
    /** The head that was stored under {@link #storedKey}; null for none. */
    private @Nullable StoredHead storedHead;
    /** State of the purger before the request was sent; null if nothing can be stored. */
    private @Nullable PurgePoint startPoint;

    /** Hash of the URL's primary key, under which the purger records purges. */
    private int keyHash;
    /** True if the response is for the waiting clients only. */
    private boolean isUnstorable;

    /** The Cache-Status detail that says why the last response was not stored; null for none. */
    private @Nullable String unstoredDetail;

    FetchStoring(ExchangeLoop exchangeLoop, FetchPlan plan, SharedFetch fetch) {
        this.exchangeLoop = exchangeLoop;
        this.plan = plan;
        this.fetch = fetch;
        this.joinableKey = plan.collapseKey();
    }

    /** Records the state of the purger, so that later purges are detected. Call before the request is sent. */
    void begin() {
        boolean changesStore = plan.mayStore() || plan.mayStorePost() || plan.storedForHeadMethod() != null;
        keyHash = changesStore ? Purger.keyHash(plan.primaryBytes()) : 0;
        startPoint = changesStore ? exchangeLoop.purger().point(keyHash) : null;
    }

    /** Determines whether the next response must not be stored, because it is for the waiting clients only. */
    void setUnstorable(boolean unstorable) {
        isUnstorable = unstorable;
    }

    /**
     * Removes the stored content in other codings, after this request's stored content was found outdated or unusable.
     * Otherwise the proxy could produce the outdated content again from another coding.
     *
     * @param current fields with the validators of the current content, whose variants are kept; null to remove all
     */
    void removeOtherCodings(@Nullable FieldSection current) {
        exchangeLoop.variants().removeOtherCodings(plan, current);
    }

    /**
     * Removes the stored content in all codings, because the origin has other content. The stored content for this
     * request's coding is replaced instead if the response is stored.
     */
    private void removeOutdated(ResponseHead head, boolean isStored) {
        removeOtherCodings(head.status() == 200 ? head.fields() : null);
        StoredObject<StoredHead> stale = plan.stale();
        if (!isStored && stale != null && !plan.cacheSettings().encoding().isOff()) {
            exchangeLoop.store().discard(stale);
        }
    }

    /**
     * Returns true if a response to a validation proves that the stored content is outdated: it has other content, or
     * reports that there is none.
     */
    private boolean isOtherContent(ResponseHead head) {
        StoredObject<StoredHead> stale = plan.stale();
        return stale != null
                && switch (head.status()) {
                    case 200 ->
                        !Validation.isConfirmed(
                                stale.head(),
                                head.fields(),
                                exchangeLoop.clock().millis());
                    case 404, 410 -> true;
                    default -> false;
                };
    }

    /**
     * The result of receiving a response head.
     *
     * @param response the response for the exchanges that share the fetch
     * @param writer writes the response to the store; null when it is not stored
     * @param inBlocks whether exchanges read the response from the store's blocks, where other fetches may add missing
     *     blocks
     */
    record Reception(FetchedResponse response, @Nullable ObjectWriter<StoredHead> writer, boolean inBlocks) {}

    /**
     * Decides how a response is processed, and opens the writer to the store. If the response is not stored, no further
     * exchange can join the fetch.
     */
    Reception receive(ResponseHead head, ResponseFraming framing, long requestMillis, long nowMillis) {
        Reception reception = head.status() == 206
                ? receivePart(head, framing.contentLength(), requestMillis, nowMillis)
                : receiveWhole(head, framing.contentLength(), requestMillis, nowMillis);
        if (plan.isFromVariant()) {
            reception = new Reception(reception.response().fromVariant(), reception.writer(), reception.inBlocks());
        }
        if (reception.writer() == null) {
            endJoining();
            return new Reception(reception.response().unstored(), null, false);
        }
        StoreKey key = storedKey;
        return key != null && mayKeepPart(reception.response())
                ? new Reception(reception.response().keptUnder(key), reception.writer(), false)
                : reception;
    }

    private Reception receiveWhole(ResponseHead head, long length, long requestMillis, long nowMillis) {
        boolean storable = (plan.mayStore() || plan.mayStorePost()) && decideStorable(head, nowMillis);
        if (isOtherContent(head)) {
            removeOutdated(head, storable);
        }
        if (storable) {
            StoredHead stored = stored(head, length, requestMillis, nowMillis);
            FetchedResponse response = whole(head, LazyStoredHead.of(stored), true, length, nowMillis, null);
            return new Reception(response, open(stored, length), false);
        }
        if (!plan.mayStore() || head.status() != 200) {
            return new Reception(FetchedResponse.passed(head, length, nowMillis), null, false);
        }
        LazyStoredHead selection = LazyStoredHead.later(
                CurrentAge.initialMillis(head.fields(), requestMillis, nowMillis),
                nowMillis,
                () -> stored(head, length, requestMillis, nowMillis));
        return new Reception(whole(head, selection, false, length, nowMillis, unstoredDetail), null, false);
    }

    private static FetchedResponse whole(
            ResponseHead head,
            LazyStoredHead selection,
            boolean storable,
            long length,
            long nowMillis,
            @Nullable String detail) {
        return new FetchedResponse(
                head.status(), head, head, selection, null, storable, null, length, nowMillis, detail);
    }

    private StoredHead stored(ResponseHead head, long length, long requestMillis, long nowMillis) {
        StoredHead stored = plan.stored(head, requestMillis, nowMillis);
        return length < 0 ? stored : stored.withContentLength(length);
    }

    private Reception receivePart(ResponseHead head, long length, long requestMillis, long nowMillis) {
        PartialContent content = plan.range() == null
                ? null
                : PartialContent.of(plan.request(), head, length, requestMillis, nowMillis, plan.cacheSettings());
        if (content == null) {
            exchangeLoop.counters().increment(Counter.FILLS_NOT_STORABLE);
            return new Reception(FetchedResponse.passed(head, length, nowMillis), null, false);
        }
        if (!content.storable()) {
            exchangeLoop.counters().increment(Counter.FILLS_NOT_STORABLE);
        }
        boolean storable = content.storable()
                && !isUnstorable
                && !detectPurge()
                && !variesByUnsentField(content.whole().variance())
                && !EncodedHeads.wouldEncodeWhole(
                        head.fields(),
                        content.range().length(),
                        plan.cacheSettings().encoding());
        ContentRange range = content.range();
        StoredHead wholeHead = plan.withFetchStamp(content.whole(), null);
        if (range.isWhole()) {
            ResponseHead whole = content.representation();
            FetchedResponse response = new FetchedResponse(
                    206,
                    whole,
                    whole,
                    LazyStoredHead.of(wholeHead),
                    null,
                    storable,
                    null,
                    range.length(),
                    nowMillis,
                    null);
            return new Reception(response, storable ? open(wholeHead, range.length()) : null, false);
        }
        LazyStoredHead selection = content.isLengthAsStated() ? LazyStoredHead.of(wholeHead) : null;
        FetchedResponse response = new FetchedResponse(
                206, head, content.representation(), selection, range, storable, null, length, nowMillis, null);
        if (!storable) {
            return new Reception(response, null, false);
        }
        boolean inBlocks = exchangeLoop.settings().storesBlocks()
                && range.length() > RangeRequest.PIECE_BYTES
                && range.first() % RangeRequest.PIECE_BYTES == 0
                && (range.bytes() >= RangeRequest.PIECE_BYTES || range.end() == range.length())
                && StrongValidator.isPresent(content.whole());
        if (!inBlocks) {
            return new Reception(response, open(plan.withFetchStamp(content.part(), null), range.bytes()), false);
        }
        ObjectWriter<StoredHead> writer = open(wholeHead, range.length());
        if (writer != null) {
            writer.allowPartial();
        }
        return new Reception(response, writer, true);
    }

    /**
     * Returns true if the store should keep the received beginning of the response when the fetch fails. Requires a
     * strong validator, by which a later fetch recognizes the same representation.
     */
    private boolean mayKeepPart(FetchedResponse response) {
        StoredHead head = response.selectable();
        return head != null
                && response.part() == null
                && response.contentLength() > RangeRequest.PIECE_BYTES
                && plan.stale() == null
                && head.status() == 200
                && StrongValidator.isPresent(head);
    }

    /**
     * Decides whether the response may be stored. If not, counts it. Also sets {@link #unstoredDetail} if the caching
     * rules forbid the storing.
     */
    private boolean decideStorable(ResponseHead head, long nowMillis) {
        unstoredDetail = null;
        if (detectPurge()) {
            return false;
        }
        if (isUnstorable) {
            exchangeLoop.counters().increment(Counter.FILLS_NOT_STORABLE);
            return false;
        }
        // When a range was requested, only 200 and 206 describe the representation. Any other status may depend on the
        // range. One client chose this range, and cache keys do not contain it.
        if (plan.range() != null && head.status() != 200 && head.status() != 206) {
            exchangeLoop.counters().increment(Counter.FILLS_NOT_STORABLE);
            return false;
        }
        if (isErrorDiscarded(head.status(), nowMillis)) {
            exchangeLoop.counters().increment(Counter.FILLS_NOT_STORABLE);
            return false;
        }
        StoreKey key = plan.key();
        if (Storability.of(plan.request(), head, nowMillis, plan.cacheSettings())
                instanceof Storability.NotStorable not) {
            if (plan.mayStore()) {
                exchangeLoop.counters().increment(Counter.FILLS_NOT_STORABLE);
                LeakReports.refused(exchangeLoop.counters(), not.reason());
            }
            unstoredDetail = not.reason().detail();
            if (key != null && concernsKey(not.reason(), head)) {
                long seconds = plan.mapped().rule().config().cache().fill().uncacheableSeconds();
                exchangeLoop.uncacheable().add(key, not.reason().code(), nowMillis, seconds);
            }
            return false;
        }
        if (variesByUnsentField(plan.cacheSettings().key().variance(head.fields()))) {
            exchangeLoop.counters().increment(Counter.FILLS_NOT_STORABLE);
            return false;
        }
        if (plan.cacheSettings().storing().leakGuard() == StoringRules.LeakGuardLevel.WARN) {
            LeakReports.stored(exchangeLoop.counters(), plan.request(), head, plan.cacheSettings());
        }
        if (key != null) {
            exchangeLoop.uncacheable().remove(key);
        }
        return true;
    }

    /**
     * Returns true if the response is an origin error, and a stored response can be served instead. The error must then
     * not replace the stored response.
     */
    private boolean isErrorDiscarded(int status, long nowMillis) {
        StoredHead fallbackHead = plan.fallbackHead();
        return fallbackHead != null
                && StaleServing.isErrorDiscarded(
                        status,
                        fallbackHead,
                        nowMillis,
                        plan.cacheSettings(),
                        exchangeLoop.invalidations().staleSinceMillis(plan.keyUrl(), fallbackHead));
    }

    /**
     * Returns true if the response varies by a field that the client sent but the origin did not receive. Such a
     * response belongs to another request.
     */
    private boolean variesByUnsentField(Variance variance) {
        return !variance.isNone() && OriginRequests.isAnySelectorWithheld(plan, variance);
    }

    /**
     * Returns true if later responses for the key are probably not storable either. Returns false for reasons that
     * concern this request alone: its credentials, its own no-store, or an error response.
     */
    private boolean concernsKey(NoStoreReason reason, ResponseHead head) {
        return head.status() < 400
                && reason != NoStoreReason.AUTHORIZATION
                && reason != NoStoreReason.COOKIES
                && reason != NoStoreReason.HEURISTIC_REFUSED
                && reason != NoStoreReason.LEAK_GUARD
                && reason != Storability.ofRequest(plan.request(), plan.cacheSettings());
    }

    /**
     * Combines a stored first part with a 206. Both must be of the same representation and leave no gap
     * (RFC 9111 s3.4).
     *
     * @return null when they cannot be combined
     */
    @Nullable
    Reception combine(
            StoredObject<StoredHead> firstPart,
            ResponseHead head,
            ResponseFraming framing,
            long requestMillis,
            long nowMillis) {
        PartialContent content = PartialContent.of(
                plan.request(), head, framing.contentLength(), requestMillis, nowMillis, plan.cacheSettings());
        ContentRange first = PartialContent.rangeOf(firstPart.head());
        boolean fits = content != null
                && !isUnstorable
                && content.storable()
                && content.range().first() == first.end()
                && content.range().end() == first.length()
                && content.range().length() == first.length()
                && StrongValidator.isSame(firstPart.head(), content.whole());
        if (content == null || !fits) {
            return null;
        }
        StoredHead whole = plan.withFetchStamp(
                content.combinedWith(plan.request(), firstPart.head(), requestMillis, nowMillis, plan.cacheSettings()),
                firstPart.head());
        StoredHead clientHead =
                Validation.forRequestingClient(whole, content.representation().fields(), plan.cacheSettings());
        ResponseHead answer = ResponseHead.of(200, "OK", clientHead.fields());
        FetchedResponse response = new FetchedResponse(
                206, answer, answer, LazyStoredHead.of(whole), null, true, null, first.length(), nowMillis, null);
        ObjectWriter<StoredHead> writer = detectPurge() ? null : open(whole, first.length());
        if (writer == null) {
            endJoining();
            return new Reception(response.unstored(), null, false);
        }
        return new Reception(response, writer, false);
    }

    /**
     * Opens a writer to the store, under the variant's key if the response varies. From then on other exchanges join
     * the fetch under that key.
     *
     * @return null when the URL, a tag or a cache group was purged in the meantime, or the content exceeds its share of
     *     the storage
     */
    private @Nullable ObjectWriter<StoredHead> open(StoredHead stored, long length) {
        if (isOutdatedByLabel(stored)) {
            exchangeLoop.counters().increment(Counter.FILLS_INVALIDATED);
            return null;
        }
        StoreKey key = exchangeLoop.variants().keyFor(plan, stored);
        exchangeLoop.store().countMiss(key);
        ObjectWriter<StoredHead> writer =
                exchangeLoop.store().create(key, exchangeLoop.variants().volumeFor(plan));
        // A purge on another thread first raises its stamp (an increasing number) and then removes responses. So either
        // this check sees the stamp, or the purge finds the new writer or its Vary marker (the record of the
        // URL's variants).
        if (detectPurge()) {
            writer.abort();
            if (!Arrays.equals(key.bytes(), plan.primaryBytes())) {
                exchangeLoop.variants().removeMarker(plan);
            }
            return null;
        }
        double share = plan.cacheSettings().storing().storageShareMax();
        if (exchangeLoop.settings().storesBlocks() && length > writer.bytesMax(share) && !writer.isFailed()) {
            exchangeLoop.counters().increment(Counter.FILLS_OVER_SHARE);
            writer.abort();
            return null;
        }
        storedKey = key;
        storedHead = stored;
        writer.head(stored, length);
        if (joinableKey != null && !joinableKey.equals(key)) {
            endJoining();
            if (exchangeLoop.collapser().registerIfAbsent(key, fetch) == null) {
                joinableKey = key;
            }
        }
        return writer;
    }

    /** Called when the content is complete. Registers the stored response if it is a dictionary. */
    void completed() {
        StoreKey key = storedKey;
        StoredHead head = storedHead;
        if (key != null && head != null) {
            exchangeLoop.dictionaryStored(plan, key, head, null);
        }
    }

    /** Returns true if no purge has affected the URL since {@link #begin}. */
    boolean isCurrent() {
        PurgePoint since = startPoint;
        return (since == null || !exchangeLoop.purger().isPurgedSince(keyHash, since)) && !isInvalidated();
    }

    private boolean isInvalidated() {
        Outdated outdated = exchangeLoop.invalidations().ofFetch(plan.keyUrl(), plan.lookupStamp(), Labels.NONE);
        // A soft purge does not prevent storing, because the stamp of a stored response shows that the response is
        // stale. A purge by pattern is an exception: it searches the store once in the background, and would not find a
        // response that is stored later.
        return outdated != null && (!outdated.isSoft() || outdated == Outdated.STALE_BY_PATTERN);
    }

    /** Returns true if a hard purge by tag or cache group has outdated the response since its fetch began. */
    private boolean isOutdatedByLabel(StoredHead stored) {
        Labels labels = stored.labels();
        boolean hasNone = labels.groups().length == 0 && labels.tags().isEmpty();
        Outdated outdated = hasNone ? null : exchangeLoop.invalidations().of(plan.keyUrl(), stored.stamp(), labels);
        return outdated != null && !outdated.isSoft();
    }

    /**
     * Returns true if a purge has affected the URL since {@link #begin}. If so, increments the counter of such fetches.
     */
    private boolean detectPurge() {
        if (isCurrent()) {
            return false;
        }
        exchangeLoop.counters().increment(Counter.FILLS_INVALIDATED);
        return true;
    }

    /**
     * The heads that result from a 304 for a stored response.
     *
     * @param shared the head for all clients; null when only the client whose request was sent may use it
     * @param answer the head for the client whose request was sent
     */
    record Confirmation(@Nullable StoredHead shared, StoredHead answer) {}

    /**
     * Freshens the stored response with the origin's 304.
     *
     * @return null when the 304 is about another representation (RFC 9111 s4.3.4)
     */
    @Nullable
    Confirmation freshen(StoredObject<StoredHead> stale, ResponseHead notModified, long requestMillis) {
        Validation.Outcome outcome = Validation.freshen(
                plan.request(),
                stale.head(),
                notModified,
                requestMillis,
                exchangeLoop.clock().millis(),
                plan.cacheSettings());
        if (outcome instanceof Validation.Freshened freshened) {
            StoredHead head = plan.withFetchStamp(freshened.head(), stale.head());
            if (isUnstorable) {
                if (!keepsStored()) {
                    exchangeLoop.store().discard(stale);
                    removeOtherCodings(null);
                }
                return new Confirmation(null, plan.withFetchStamp(freshened.answer(), stale.head()));
            }
            update(stale, head);
            return new Confirmation(head, plan.withFetchStamp(freshened.answer(), stale.head()));
        }
        if (outcome instanceof Validation.Unstorable unstorable) {
            if (unstorable.isRemoved()) {
                exchangeLoop.store().discard(stale);
                removeOtherCodings(null);
            }
            return new Confirmation(null, unstorable.head());
        }
        return null;
    }

    /** Returns true unless an extension forbids storing the response. */
    private boolean keepsStored() {
        FetchHooks hooks = plan.hooks();
        return hooks == null || hooks.keepsStored();
    }

    /**
     * Applies a response to HEAD to the stored response to GET (RFC 9111 s4.3.5). Freshens the stored response, or
     * discards it if it is out of date.
     */
    void compare(StoredObject<StoredHead> known, ResponseHead answer, long requestMillis) {
        if (isUnstorable || (plan.hooks() != null && plan.hooks().transformsBodies())) {
            return;
        }
        Validation.Outcome outcome = Validation.ofHead(
                plan.request(),
                known.head(),
                answer,
                requestMillis,
                exchangeLoop.clock().millis(),
                plan.cacheSettings());
        if (outcome instanceof Validation.Freshened freshened) {
            // Without an equal validator, the response to HEAD does not prove that the stored response is current. A
            // stored response that a soft purge has outdated then keeps its stamp, and stays stale.
            boolean confirmed = Validation.isConfirmed(
                    known.head(), answer.fields(), exchangeLoop.clock().millis());
            update(
                    known,
                    confirmed
                            ? plan.withFetchStamp(freshened.head(), known.head())
                            : plan.withStamp(
                                    unconfirmed(freshened.head(), known.head()),
                                    known.head().stamp()));
        } else if (outcome instanceof Validation.Mismatched
                || (outcome instanceof Validation.Unstorable unstorable && unstorable.isRemoved())) {
            exchangeLoop.store().discard(known);
            removeOtherCodings(outcome instanceof Validation.Mismatched ? answer.fields() : null);
        }
    }

    /**
     * Returns the updated head. A head that was purged softly stays purged, because no validator confirmed the
     * response.
     */
    private StoredHead unconfirmed(StoredHead head, StoredHead known) {
        return known.isPurgedSoftly() ? head.withSoftPurge(exchangeLoop.clock().millis()) : head;
    }

    private void update(StoredObject<StoredHead> object, StoredHead head) {
        StoredHead before = object.head();
        if (!exchangeLoop.update(object, plan.keyUrl(), plan.lookupStamp(), head)) {
            return;
        }
        StoreKey key = plan.key();
        if (key != null) {
            exchangeLoop.dictionaryStored(plan, key, head, before);
        }
        if (exchangeLoop.variants().pinMarker(plan, head) && !isCurrent()) {
            exchangeLoop.variants().removeMarker(plan);
        }
    }

    /** Ends the joining: no further exchange can join the fetch. */
    void endJoining() {
        if (joinableKey != null) {
            exchangeLoop.collapser().remove(joinableKey, fetch);
            joinableKey = null;
        }
    }
}
