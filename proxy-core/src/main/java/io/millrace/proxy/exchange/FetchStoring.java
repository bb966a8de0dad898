package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.CurrentAge;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.reuse.StaleServing;
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
import io.millrace.proxy.fetch.response.ResponseFraming;
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
 * Decides how the response of a fetch changes the store: whether it is stored and under which key, and how a 304
 * updates a stored response. A response is not stored if a purge has outdated it meanwhile. Other exchanges join the
 * fetch under the same key.
 *
 * <p>Confined to the fetch's event loop.
 */
final class FetchStoring {
    private final ExchangeLoop home;
    private final FetchPlan plan;
    private final SharedFetch fetch;

    private @Nullable StoreKey joinedUnder;
    private @Nullable StoreKey opened;
    private @Nullable PurgePoint began;
    private int keyHash;

    FetchStoring(ExchangeLoop home, FetchPlan plan, SharedFetch fetch) {
        this.home = home;
        this.plan = plan;
        this.fetch = fetch;
        this.joinedUnder = plan.collapseKey();
    }

    /** Notes the current point of the purger, so that later purges are detected. Call before the request is sent. */
    void begin() {
        boolean changesStore = plan.mayStore() || plan.isPost() || plan.comparedToHead() != null;
        keyHash = changesStore ? Purger.keyHash(plan.primaryBytes()) : 0;
        began = changesStore ? home.purger().point(keyHash) : null;
    }

    /**
     * The result of receiving a response head.
     *
     * @param response the response as the exchanges see it
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
        if (reception.writer() == null) {
            endJoining();
            return new Reception(reception.response().unstored(), null, false);
        }
        StoreKey key = opened;
        return key != null && mayKeepPart(reception.response())
                ? new Reception(reception.response().keptUnder(key), reception.writer(), false)
                : reception;
    }

    private Reception receiveWhole(ResponseHead head, long length, long requestMillis, long nowMillis) {
        boolean storable = (plan.mayStore() || plan.isPost()) && isStorable(head, nowMillis);
        if (storable) {
            StoredHead stored = stored(head, length, requestMillis, nowMillis);
            FetchedResponse response = whole(head, LazyStoredHead.of(stored), true, length, nowMillis);
            return new Reception(response, open(stored, length), false);
        }
        if (!plan.mayStore() || head.status() != 200) {
            return new Reception(FetchedResponse.passed(head, length, nowMillis), null, false);
        }
        LazyStoredHead selection = LazyStoredHead.later(
                CurrentAge.initialMillis(head.fields(), requestMillis, nowMillis),
                nowMillis,
                () -> stored(head, length, requestMillis, nowMillis));
        return new Reception(whole(head, selection, false, length, nowMillis), null, false);
    }

    private static FetchedResponse whole(
            ResponseHead head, LazyStoredHead selection, boolean storable, long length, long nowMillis) {
        return new FetchedResponse(head.status(), head, head, selection, null, storable, null, length, nowMillis);
    }

    private StoredHead stored(ResponseHead head, long length, long requestMillis, long nowMillis) {
        StoredHead stored =
                plan.stamped(StoredHead.of(plan.request(), head, requestMillis, nowMillis, plan.cacheSettings()), null);
        return length < 0 ? stored : stored.withContentLength(length);
    }

    private Reception receivePart(ResponseHead head, long length, long requestMillis, long nowMillis) {
        PartialContent content = plan.range() == null
                ? null
                : PartialContent.of(plan.request(), head, length, requestMillis, nowMillis, plan.cacheSettings());
        if (content == null) {
            home.counters().increment(Counter.FILLS_NOT_STORABLE);
            return new Reception(FetchedResponse.passed(head, length, nowMillis), null, false);
        }
        if (!content.storable()) {
            home.counters().increment(Counter.FILLS_NOT_STORABLE);
        }
        boolean storable = content.storable()
                && !isPurged()
                && !isSelectedByUnsent(content.whole().variance());
        ContentRange range = content.range();
        StoredHead wholeHead = plan.stamped(content.whole(), null);
        if (range.isWhole()) {
            ResponseHead whole = content.representation();
            FetchedResponse response = new FetchedResponse(
                    206, whole, whole, LazyStoredHead.of(wholeHead), null, storable, null, range.length(), nowMillis);
            return new Reception(response, storable ? open(wholeHead, range.length()) : null, false);
        }
        LazyStoredHead selection = content.asTold() ? LazyStoredHead.of(wholeHead) : null;
        FetchedResponse response = new FetchedResponse(
                206, head, content.representation(), selection, range, storable, null, length, nowMillis);
        if (!storable) {
            return new Reception(response, null, false);
        }
        boolean inBlocks = home.settings().storesBlocks()
                && range.length() > RangeRequest.PIECE_BYTES
                && range.first() % RangeRequest.PIECE_BYTES == 0
                && (range.bytes() >= RangeRequest.PIECE_BYTES || range.end() == range.length())
                && StrongValidator.isPresent(content.whole());
        if (!inBlocks) {
            return new Reception(response, open(plan.stamped(content.part(), null), range.bytes()), false);
        }
        ObjectWriter<StoredHead> writer = open(wholeHead, range.length());
        if (writer != null) {
            writer.allowPartial();
        }
        return new Reception(response, writer, true);
    }

    /**
     * Returns true if the received part of a response is worth keeping when the fetch breaks off. This requires a
     * strong validator, by which a later fetch can recognize the same representation.
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

    private boolean isStorable(ResponseHead head, long nowMillis) {
        if (isPurged()) {
            return false;
        }
        // When a range was requested, only 200 and 206 describe the whole representation. Any other status may depend
        // on the range, which one client chose and which is part of no cache key.
        if (plan.range() != null && head.status() != 200 && head.status() != 206) {
            home.counters().increment(Counter.FILLS_NOT_STORABLE);
            return false;
        }
        if (isMasked(head.status(), nowMillis)) {
            home.counters().increment(Counter.FILLS_NOT_STORABLE);
            return false;
        }
        StoreKey key = plan.key();
        if (Storability.of(plan.request(), head, nowMillis, plan.cacheSettings())
                instanceof Storability.NotStorable not) {
            if (plan.mayStore()) {
                home.counters().increment(Counter.FILLS_NOT_STORABLE);
            }
            if (key != null && isOfTheKey(not.reason(), head)) {
                long seconds = plan.mapped().rule().config().cache().fill().uncacheableSeconds();
                home.uncacheable().add(key, nowMillis, seconds);
            }
            return false;
        }
        if (isSelectedByUnsent(plan.cacheSettings().key().variance(head.fields()))) {
            home.counters().increment(Counter.FILLS_NOT_STORABLE);
            return false;
        }
        if (key != null) {
            home.uncacheable().remove(key);
        }
        return true;
    }

    /**
     * Returns true if the response is an origin error that a stored response can replace. The stored response is kept
     * then.
     */
    private boolean isMasked(int status, long nowMillis) {
        StoredHead standIn = plan.standIn();
        return standIn != null
                && StaleServing.isMasked(
                        status,
                        standIn,
                        nowMillis,
                        plan.cacheSettings(),
                        home.invalidations().staleSinceMillis(plan.keyUrl(), standIn));
    }

    /**
     * Returns true if the response varies by a field that the client sent but the origin did not receive. Such a
     * response belongs to another request.
     */
    private boolean isSelectedByUnsent(Variance variance) {
        return !variance.isNone() && OriginRequests.isAnySelectorWithheld(plan, variance);
    }

    /**
     * Returns true if later responses for the key are probably not storable either. Reasons that concern this request
     * alone do not count: its credentials, its own no-store, or an error response.
     */
    private boolean isOfTheKey(NoStoreReason reason, ResponseHead head) {
        return head.status() < 400
                && reason != NoStoreReason.AUTHORIZATION
                && reason != NoStoreReason.COOKIES
                && reason != NoStoreReason.GUESS_WITHHELD
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
                && content.storable()
                && content.range().first() == first.end()
                && content.range().end() == first.length()
                && content.range().length() == first.length()
                && StrongValidator.isSame(firstPart.head(), content.whole());
        if (content == null || !fits) {
            return null;
        }
        StoredHead whole = plan.stamped(
                content.combinedWith(plan.request(), firstPart.head(), requestMillis, nowMillis, plan.cacheSettings()),
                firstPart.head());
        StoredHead own = Validation.forAsker(whole, content.representation().fields(), plan.cacheSettings());
        ResponseHead answer = ResponseHead.of(200, "OK", own.fields());
        FetchedResponse response = new FetchedResponse(
                206, answer, answer, LazyStoredHead.of(whole), null, true, null, first.length(), nowMillis);
        ObjectWriter<StoredHead> writer = isPurged() ? null : open(whole, first.length());
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
     * @return null when the URL was purged meanwhile, or the content exceeds its share of the storage
     */
    private @Nullable ObjectWriter<StoredHead> open(StoredHead stored, long length) {
        StoreKey key = home.variants().keyFor(plan, stored);
        ObjectWriter<StoredHead> writer =
                home.store().create(key, home.variants().volumeFor(plan));
        // A purge on another thread first raises its stamp and then removes. So either its stamp is visible here, or
        // the purge finds the writer or the Vary marker that leads to it.
        if (isPurged()) {
            writer.abort();
            if (!Arrays.equals(key.bytes(), plan.primaryBytes())) {
                home.variants().removeMarker(plan);
            }
            return null;
        }
        double share = plan.cacheSettings().storing().storageShareMax();
        if (home.settings().storesBlocks() && length > writer.bytesMax(share) && !writer.isFailed()) {
            home.counters().increment(Counter.FILLS_OVER_SHARE);
            writer.abort();
            return null;
        }
        opened = key;
        writer.head(stored, length);
        if (joinedUnder != null && !joinedUnder.equals(key)) {
            endJoining();
            if (home.collapser().lead(key, fetch) == null) {
                joinedUnder = key;
            }
        }
        return writer;
    }

    /** Returns true if no purge has affected the URL since {@link #begin}. */
    boolean isCurrent() {
        PurgePoint since = began;
        return (since == null || !home.purger().isPurgedSince(keyHash, since)) && !isGone();
    }

    private boolean isGone() {
        Outdated outdated = home.invalidations().ofFetch(plan.keyUrl(), plan.stamp(), Labels.NONE);
        // A sweep that has passed would not find the response.
        return outdated != null && (!outdated.isSoft() || outdated == Outdated.STALE_BY_PATTERN);
    }

    private boolean isPurged() {
        if (isCurrent()) {
            return false;
        }
        home.counters().increment(Counter.FILLS_INVALIDATED);
        return true;
    }

    /**
     * The result of a 304 for a stored response.
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
                home.clock().millis(),
                plan.cacheSettings());
        if (outcome instanceof Validation.Freshened freshened) {
            StoredHead head = plan.stamped(freshened.head(), stale.head());
            update(stale, head);
            return new Confirmation(head, plan.stamped(freshened.answer(), stale.head()));
        }
        if (outcome instanceof Validation.Unstorable unstorable) {
            if (unstorable.isRemoved()) {
                home.store().discard(stale);
            }
            return new Confirmation(null, unstorable.head());
        }
        return null;
    }

    /**
     * Applies the response to HEAD to the stored response to GET: freshens it, or discards it if it is out of date
     * (RFC 9111 s4.3.5).
     */
    void compare(StoredObject<StoredHead> known, ResponseHead answer, long requestMillis) {
        Validation.Outcome outcome = Validation.ofHead(
                plan.request(),
                known.head(),
                answer,
                requestMillis,
                home.clock().millis(),
                plan.cacheSettings());
        if (outcome instanceof Validation.Freshened freshened) {
            // Without an equal validator the response to HEAD does not prove that a response outdated by a soft purge
            // is current again.
            boolean confirmed = Validation.isConfirmed(known.head(), answer.fields());
            update(
                    known,
                    confirmed
                            ? plan.stamped(freshened.head(), known.head())
                            : plan.restamped(
                                    unconfirmed(freshened.head(), known.head()),
                                    known.head().stamp()));
        } else if (outcome instanceof Validation.Mismatched
                || (outcome instanceof Validation.Unstorable unstorable && unstorable.isRemoved())) {
            home.store().discard(known);
        }
    }

    /** Returns the head of a response that a swept purge has outdated as before. */
    private StoredHead unconfirmed(StoredHead head, StoredHead known) {
        return known.isPurgedSoftly() ? head.withSoftPurge(home.clock().millis()) : head;
    }

    private void update(StoredObject<StoredHead> object, StoredHead head) {
        if (!home.update(object, plan.keyUrl(), plan.stamp(), head)) {
            return;
        }
        if (home.variants().pinMarker(plan, head) && !isCurrent()) {
            home.variants().removeMarker(plan);
        }
    }

    /** Ends the joining: no further exchange can join the fetch. */
    void endJoining() {
        if (joinedUnder != null) {
            home.collapser().remove(joinedUnder, fetch);
            joinedUnder = null;
        }
    }
}
