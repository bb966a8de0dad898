package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.validate.PartialContent;
import io.millrace.proxy.caching.validate.StrongValidator;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.RangeRequest;
import io.millrace.proxy.exchange.forward.OriginRequests;
import io.millrace.proxy.exchange.origin.OriginTries;
import io.millrace.proxy.exchange.report.FailureCounters;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.ContentSource;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.Counter;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The remaining content of a partly sent response, fetched from the origin at the client's pace. Used when the store
 * cannot supply these bytes. Requests a range with If-Range, and accepts only an equal strong validator (RFC 9110
 * s13.1.5). Nothing is stored. If the origin sends a shorter range, the next range is requested; a range below the
 * minimum length is a failure.
 *
 * <p>Confined to the exchange's event loop.
 */
final class RangeContinuation implements ContentSource, OriginResponseHandler {
    private final ExchangeLoop exchangeLoop;
    private final Decision decision;
    private final ClientConnection client;
    private final ClientAnswer.Missing missing;
    private final ContentSink sink;
    /**
     * Content that arrived before the client could accept it: at most one receive buffer, because reading is then
     * paused.
     */
    private final Queue<ByteBuf> waiting = new ArrayDeque<>(2);

    private @Nullable FetchPlan plan;
    private @Nullable OriginCall call;
    private @Nullable ContentFailure failure;
    private long requestMillis;
    /** Position of the first wanted byte that has not arrived. */
    private long wanted;
    /** Position in the body of the next byte from the origin. */
    private long arriving;
    /** Position after the last byte of the current response. */
    private long partEnd;

    /** True if the current response has the same representation and the wanted range. */
    private boolean matched;
    /** True while the sink waits for a piece. */
    private boolean pulled;

    private boolean complete;
    private boolean closed;
    /** True while a hook of an extension prepares the next request. */
    private boolean preparing;

    /** @param missing the missing content; its head has a strong validator */
    RangeContinuation(
            ExchangeLoop exchangeLoop,
            Decision decision,
            ClientConnection client,
            ClientAnswer.Missing missing,
            ContentSink sink) {
        this.exchangeLoop = exchangeLoop;
        this.decision = decision;
        this.client = client;
        this.missing = missing;
        this.sink = sink;
        this.wanted = missing.position();
    }

    @Override
    public void pull() {
        pulled = true;
        if (wanted >= missing.end() && waiting.isEmpty()) {
            complete = true;
        } else if (call == null) {
            if (!preparing) {
                fetch();
            }
            return;
        }
        deliver();
    }

    private void fetch() {
        String ifRange = StrongValidator.ifRange(missing.head());
        FetchPlan next = FetchPlan.part(decision, client, false, RangeRequest.of(wanted, missing.end(), ifRange));
        plan = next;
        matched = false;
        preparing = true;
        call = null;
        OriginRequests.prepare(next, exchangeLoop.settings(), exchangeLoop.loop(), name -> prepared(next, name));
    }

    private void prepared(FetchPlan next, @Nullable String failedExtension) {
        preparing = false;
        if (closed || plan != next) {
            return;
        }
        if (failedExtension != null) {
            fail(ContentFailure.ORIGIN_TRUNCATED);
            return;
        }
        requestMillis = exchangeLoop.clock().millis();
        exchangeLoop.counters().increment(Counter.ORIGIN_REQUESTS_FETCH);
        call = OriginTries.fetch(exchangeLoop, next, this);
    }

    private void deliver() {
        if (!pulled || closed) {
            return;
        }
        ByteBuf next = waiting.poll();
        if (next != null) {
            pulled = false;
            sink.onContent(next);
        } else if (complete) {
            pulled = false;
            sink.onEnd();
        } else if (failure != null) {
            pulled = false;
            sink.onFailure(failure);
        } else if (call != null) {
            call.resumeReading();
        }
    }

    @Override
    public void onHead(ResponseHead head, ResponseFraming framing) {
        FetchPlan requestPlan = plan;
        if (requestPlan == null) {
            throw new IllegalStateException("the response was not requested");
        }
        long nowMillis = exchangeLoop.clock().millis();
        if (head.status() == 206) {
            PartialContent part = PartialContent.of(
                    requestPlan.request(),
                    head,
                    framing.contentLength(),
                    requestMillis,
                    nowMillis,
                    requestPlan.cacheSettings());
            if (part != null && isNext(part)) {
                matched = true;
                arriving = wanted;
                partEnd = Math.min(part.range().end(), missing.end());
            }
        } else if (head.status() == 200 && framing.contentLength() == missing.wholeLength()) {
            // The origin ignores ranges. The bytes that the client already has are dropped.
            StoredHead whole =
                    StoredHead.of(requestPlan.request(), head, requestMillis, nowMillis, requestPlan.cacheSettings());
            matched = StrongValidator.isSame(missing.head(), whole);
            arriving = 0;
            partEnd = missing.end();
        }
        if (!matched) {
            boolean answered = head.status() == 200 || head.status() == 206 || head.status() == 416;
            fail(answered ? ContentFailure.ORIGIN_CHANGED : ContentFailure.ORIGIN_TRUNCATED);
        }
    }

    private boolean isNext(PartialContent part) {
        return StrongValidator.isSame(missing.head(), part.whole())
                && part.range().length() == missing.wholeLength()
                && part.range().first() == wanted
                && part.range().end() >= Math.min(missing.end(), wanted + RangeRequest.PIECE_BYTES);
    }

    private void fail(ContentFailure reason) {
        cancel();
        failure = reason;
        deliver();
    }

    @Override
    public void onContent(ByteBuf content) {
        if (!matched || closed || complete) {
            content.release();
            return;
        }
        long at = arriving;
        int length = (int) Math.min(content.readableBytes(), partEnd - at);
        int alreadyReceived = (int) Math.max(0, Math.min(length, wanted - at));
        boolean more = content.readableBytes() > length;
        arriving += length;
        if (alreadyReceived == length) {
            content.release();
        } else {
            wanted = arriving;
            waiting.add(content.writerIndex(content.readerIndex() + length).skipBytes(alreadyReceived));
        }
        if (more) {
            // Bytes beyond the wanted range are not needed.
            cancel();
            end();
        } else if (!pulled && call != null) {
            call.pauseReading();
        }
        deliver();
    }

    private void end() {
        if (wanted == missing.end()) {
            complete = true;
        } else {
            failure = ContentFailure.ORIGIN_TRUNCATED;
        }
    }

    @Override
    public void onComplete(@Nullable FieldSection trailers) {
        if (closed || complete || failure != null) {
            return;
        }
        if (arriving == partEnd && wanted < missing.end()) {
            fetch();
        } else {
            end();
        }
        deliver();
    }

    @Override
    public void onFailure(OriginFailure originFailure) {
        exchangeLoop.counters().increment(FailureCounters.of(originFailure.reason()));
        fail(ContentFailure.ORIGIN_TRUNCATED);
    }

    private void cancel() {
        if (call != null) {
            call.cancel();
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            if (plan != null && plan.hooks() != null) {
                plan.hooks().forget();
            }
            cancel();
            waiting.forEach(ByteBuf::release);
            waiting.clear();
        }
    }
}
