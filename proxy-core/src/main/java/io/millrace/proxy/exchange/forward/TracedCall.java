package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.observe.trace.ClientSpan;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A call to an origin that ends its trace span at the end of the response, at a failure or at a cancellation. Passes
 * every call and event on.
 *
 * <p>Confined to one event loop.
 */
public final class TracedCall implements OriginCall, OriginResponseHandler {
    private final OriginResponseHandler handler;
    private final ClientSpan span;
    private final OriginCall call;

    private TracedCall(OriginClient origins, OriginRequest request, OriginResponseHandler handler, ClientSpan span) {
        this.handler = handler;
        this.span = span;
        // OriginClient calls no method of the handler before fetch returns.
        this.call = origins.fetch(request, this);
    }

    /**
     * Sends a request.
     *
     * @param span the span of the request; null if it is not traced
     */
    public static OriginCall fetch(
            OriginClient origins, OriginRequest request, OriginResponseHandler handler, @Nullable ClientSpan span) {
        return span == null ? origins.fetch(request, handler) : new TracedCall(origins, request, handler, span);
    }

    @Override
    public void write(ByteBuf content) {
        call.write(content);
    }

    @Override
    public void finishRequest() {
        call.finishRequest();
    }

    @Override
    public boolean isRequestWritable() {
        return call.isRequestWritable();
    }

    @Override
    public void pauseReading() {
        call.pauseReading();
    }

    @Override
    public void resumeReading() {
        call.resumeReading();
    }

    @Override
    public void cancel() {
        span.cancel();
        call.cancel();
    }

    @Override
    public SlowClients.OriginDemand demand() {
        return call.demand();
    }

    @Override
    public void onContinue() {
        handler.onContinue();
    }

    @Override
    public void onInterim(ResponseHead head) {
        handler.onInterim(head);
    }

    @Override
    public void onSwitched(ResponseHead head, SwitchedConnection connection) {
        span.answered(head.status(), head.version());
        span.end(null);
        handler.onSwitched(head, connection);
    }

    @Override
    public void onRequestWritable() {
        handler.onRequestWritable();
    }

    @Override
    public void onHead(ResponseHead head, ResponseFraming framing) {
        span.answered(head.status(), head.version());
        handler.onHead(head, framing);
    }

    @Override
    public void onContent(ByteBuf content) {
        handler.onContent(content);
    }

    @Override
    public void onComplete(@Nullable FieldSection trailers) {
        span.end(null);
        handler.onComplete(trailers);
    }

    @Override
    public void onFailure(OriginFailure failure) {
        span.end(failure.reason().text());
        handler.onFailure(failure);
    }
}
