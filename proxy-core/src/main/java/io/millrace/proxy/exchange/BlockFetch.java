package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.caching.validate.PartialContent;
import io.millrace.proxy.caching.validate.StrongValidator;
import io.millrace.proxy.caching.validate.Validation;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.RangeRequest;
import io.millrace.proxy.exchange.forward.OriginRequests;
import io.millrace.proxy.exchange.origin.OriginTries;
import io.millrace.proxy.exchange.report.FailureCounters;
import io.millrace.proxy.extension.FetchHooks;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.fill.BlockFill;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.observe.Counter;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A fetch of missing blocks (parts of fixed size) of a stored response by a Range request with If-Range. The content is
 * stored only if the response contains the requested part of the same representation, proved by an equal strong
 * validator (RFC 9111 s3.4). The response's fields then update the stored fields.
 *
 * <p>Confined to one event loop.
 */
final class BlockFetch implements OriginResponseHandler {
    /** Receives the events of the fetch. Exactly one of the last two methods is called, at the end. */
    interface Listener {
        /** Called with the status of the origin's response. */
        void onStatus(int status);

        /**
         * Called when the origin has begun to send the blocks.
         *
         * @param answer the head for the client whose request caused the fetch; null when it equals the stored head
         */
        void onBlocksComing(@Nullable StoredHead answer);

        /** Called when all blocks have arrived. */
        void onBlocksEnd();

        /**
         * Called when the blocks did not arrive completely.
         *
         * @param changed whether the stored response is unusable: the origin has another representation now, or sends
         *     ranges too short to complete a block
         */
        void onBlocksFailure(boolean changed);
    }

    private final ExchangeLoop exchangeLoop;
    private final FetchPlan plan;
    private final StoredObject<StoredHead> object;
    private final ObjectWriter<StoredHead> writer;
    private final ObjectWriter.Claim claim;
    private final Listener listener;

    private @Nullable OriginCall call;
    private @Nullable BlockFill fill;
    private long requestMillis;
    /** True if the origin's response continues after the missing blocks. */
    private boolean continuesBeyondEnd;

    private boolean ended;
    private boolean cancelled;

    /** Borrows object and writer until the end of the fetch. */
    BlockFetch(
            ExchangeLoop exchangeLoop,
            FetchPlan plan,
            StoredObject<StoredHead> object,
            ObjectWriter<StoredHead> writer,
            ObjectWriter.Claim claim,
            Listener listener) {
        this.exchangeLoop = exchangeLoop;
        this.plan = plan;
        this.object = object;
        this.writer = writer;
        this.claim = claim;
        this.listener = listener;
    }

    /** The position after the last byte that is fetched. */
    private long endPosition() {
        return Math.min(claim.position() + claim.length(), object.length());
    }

    /** Returns the Range request for the bytes of a claim: the blocks that this fetch has promised to fill. */
    static RangeRequest rangeOf(ObjectWriter.Claim claim, StoredObject<StoredHead> object) {
        long until = Math.min(claim.position() + claim.length(), object.length());
        return RangeRequest.of(claim.position(), until, StrongValidator.ifRange(object.head()));
    }

    /** Begins the fetch. */
    void start() {
        OriginRequests.prepare(plan, exchangeLoop.settings(), exchangeLoop.loop(), this::prepared);
    }

    /** Sends the request after the hooks of extensions, unless a failed hook refuses it. */
    private void prepared(@Nullable String failedExtension) {
        if (cancelled) {
            return;
        }
        if (failedExtension != null) {
            listener.onBlocksFailure(false);
            return;
        }
        requestMillis = exchangeLoop.clock().millis();
        exchangeLoop.counters().increment(Counter.ORIGIN_REQUESTS_FETCH);
        call = OriginTries.fetch(exchangeLoop, plan, this);
    }

    /**
     * The position after the last byte received. An origin may send less than the requested range (RFC 9110 s15.3.7).
     */
    long position() {
        return fill == null ? claim.position() : fill.position();
    }

    /** The number of bytes of the claimed blocks that have been received. */
    long received() {
        return fill == null ? 0 : Math.max(0, fill.position() - claim.position());
    }

    /** The number of bytes to fetch. */
    long wanted() {
        return endPosition() - claim.position();
    }

    /** Cancels the fetch. No further callback is called. */
    void cancel() {
        cancelled = true;
        if (plan.hooks() != null) {
            plan.hooks().forget();
        }
        if (call != null) {
            call.cancel();
        }
    }

    @Override
    public void onHead(ResponseHead received, ResponseFraming framing) {
        ResponseHead head;
        try {
            head = plan.headAfterRules(exchangeLoop.settings().server().applyTo(received));
        } catch (FetchHooks.ClosedResponseException e) {
            listener.onStatus(received.status());
            cancel();
            listener.onBlocksFailure(false);
            return;
        }
        listener.onStatus(head.status());
        long nowMillis = exchangeLoop.clock().millis();
        StoredHead update = null;
        boolean same = false;
        boolean tooShort = false;
        long from = claim.position();
        long until = endPosition();
        if (head.status() == 206) {
            PartialContent content = PartialContent.of(
                    plan.request(), head, framing.contentLength(), requestMillis, nowMillis, plan.cacheSettings());
            same = content != null && StrongValidator.isSame(object.head(), content.whole());
            if (content != null
                    && same
                    && content.storable()
                    && content.range().length() == object.length()
                    && content.range().first() == from) {
                tooShort = content.range().end() < Math.min(until, from + RangeRequest.PIECE_BYTES);
                until = Math.min(until, content.range().end());
                continuesBeyondEnd = content.range().end() > until;
                // A partial response does not extend the time for which the response is pinned (kept on disk).
                // Otherwise the URL's Vary marker (the record of the request fields that select a response of the URL)
                // would need the same extension.
                update = content.combinedWith(
                                plan.request(), object.head(), requestMillis, nowMillis, plan.cacheSettings())
                        .withPin(object.head().pinnedUntilSeconds());
            }
        } else if (head.status() == 200 && framing.contentLength() == object.length()) {
            // The origin ignores ranges: bytes before the missing blocks are dropped.
            StoredHead whole =
                    object.head().updated(plan.request(), head, requestMillis, nowMillis, plan.cacheSettings());
            same = StrongValidator.isSame(object.head(), whole);
            if (same && isStorable(head, nowMillis)) {
                from = 0;
                continuesBeyondEnd = object.length() > until;
                update = whole.withContentLength(object.length())
                        .withPin(object.head().pinnedUntilSeconds());
            }
        }
        if (plan.hooks() != null && plan.hooks().isUnstorable()) {
            update = null;
        }
        if (update == null || tooShort) {
            cancel();
            boolean answered = head.status() == 200 || head.status() == 206 || head.status() == 416;
            listener.onBlocksFailure(tooShort || (answered && !same));
            return;
        }
        exchangeLoop.update(object, plan.keyUrl(), plan.lookupStamp(), plan.withFetchStamp(update, object.head()));
        fill = new BlockFill(exchangeLoop.loop(), writer, from, claim.position(), until, this::setReading);
        StoredHead answer = Validation.forRequestingClient(update, head.fields(), plan.cacheSettings());
        listener.onBlocksComing(answer.equals(update) ? null : answer);
    }

    private boolean isStorable(ResponseHead head, long nowMillis) {
        return Storability.of(plan.request(), head, nowMillis, plan.cacheSettings()) instanceof Storability.Storable;
    }

    private void setReading(boolean open) {
        if (call == null) {
            return;
        }
        if (open) {
            call.resumeReading();
        } else {
            call.pauseReading();
        }
    }

    @Override
    public void onContent(ByteBuf content) {
        if (fill == null) {
            content.release();
        } else {
            fill.content(content);
            if (continuesBeyondEnd && fill.isComplete()) {
                // The origin ignored or extended the range. Cancel the response, since the missing blocks have arrived.
                finish();
            }
        }
    }

    /** Ends the fetch, because all blocks have arrived. */
    private void finish() {
        if (!ended) {
            ended = true;
            cancel();
            exchangeLoop.counters().increment(Counter.FILLS_STORED);
            listener.onBlocksEnd();
        }
    }

    @Override
    public void onComplete(@Nullable FieldSection trailers) {
        if (fill != null && fill.isComplete()) {
            finish();
        } else {
            exchangeLoop.counters().increment(Counter.FILLS_ORIGIN_FAILED);
            listener.onBlocksFailure(false);
        }
    }

    @Override
    public void onFailure(OriginFailure failure) {
        exchangeLoop.counters().increment(FailureCounters.of(failure.reason()));
        exchangeLoop.counters().increment(Counter.FILLS_ORIGIN_FAILED);
        listener.onBlocksFailure(false);
    }
}
