package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.forward.FetchedResponse;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;

/**
 * A fetch without a client, which validates a stale response in the background while the response is served. The reason
 * is stale-while-revalidate (RFC 5861 s3), or a trial request to an origin that is marked down. If a fetch of the same
 * key is in flight, no second fetch begins.
 *
 * <p>Confined to one event loop.
 */
final class BackgroundValidation implements FetchFollower, ContentSink {
    private final ExchangeLoop exchangeLoop;
    private final RequestHead request;

    private BackgroundValidation(ExchangeLoop exchangeLoop, RequestHead request) {
        this.exchangeLoop = exchangeLoop;
        this.request = request;
    }

    /** Begins the validation. Takes over the object's reference. */
    static void start(
            ExchangeLoop exchangeLoop, Decision decision, ClientConnection client, StoredObject<StoredHead> object) {
        FetchPlan plan = FetchPlan.validate(decision, client, object, true);
        SharedFetch fetch = new SharedFetch(exchangeLoop, plan);
        if (exchangeLoop.collapser().registerIfAbsent(decision.key(), fetch) != null) {
            plan.releaseStoredObject();
            return;
        }
        fetch.start(new BackgroundValidation(exchangeLoop, decision.request()));
    }

    @Override
    public EventExecutor followerLoop() {
        return exchangeLoop.loop();
    }

    @Override
    public RequestHead request() {
        return request;
    }

    @Override
    public ContentSink sink() {
        return this;
    }

    @Override
    public void onFetched(SharedFetch from, FetchedResponse response, ResponseTee.Reader reader, boolean collapsed) {
        reader.close();
    }

    @Override
    public void onBlocks(
            SharedFetch from, FetchedResponse response, StoredObject<StoredHead> object, boolean collapsed) {
        object.release();
        from.leaveBlocks();
    }

    @Override
    public void onConfirmed(
            SharedFetch from, StoredObject<StoredHead> object, StoredHead refreshed, boolean collapsed) {
        object.release();
    }

    @Override
    public void onContinue() {}

    @Override
    public void onInterim(ResponseHead head) {}

    @Override
    public void onOriginWritable() {}

    @Override
    public void onNotShared(SharedFetch from, NotShared reason) {}

    @Override
    public void onFetchFailure(SharedFetch from, OriginFailure failure) {}

    @Override
    public void onFault(Throwable fault) {}

    @Override
    public void onContent(ByteBuf content) {
        content.release();
    }

    @Override
    public void onEnd() {}

    @Override
    public void onFailure(ContentFailure failure) {}
}
