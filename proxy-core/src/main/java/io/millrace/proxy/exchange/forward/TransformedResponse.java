package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.encoding.EncodedHeads;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.extension.BodyTransforms;
import io.millrace.proxy.extension.FetchHooks;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A call to an origin. Extensions transform the content of its response. The fetch, and an encoder before it, receive
 * the transformed content as if the origin had sent it. Used only if the rule has such an extension.
 *
 * <p>Confined to one event loop.
 */
public final class TransformedResponse implements OriginCall, OriginResponseHandler {
    private final FetchPlan plan;
    private final FetchHooks hooks;
    private final OriginResponseHandler next;
    private @Nullable OriginCall origin;
    private @Nullable BodyTransforms body;
    /** True once the response has ended, or a transformation failed. */
    private boolean ended;

    /** @param next receives the events of the transformed response */
    public TransformedResponse(FetchPlan plan, FetchHooks hooks, OriginResponseHandler next) {
        this.plan = plan;
        this.hooks = hooks;
        this.next = next;
        hooks.expectTransforms();
    }

    /** Sets the call to the origin that reports its events to this object. */
    public void setOrigin(OriginCall call) {
        origin = call;
    }

    /** The call to the origin. */
    public OriginCall origin() {
        OriginCall call = origin;
        if (call == null) {
            throw new IllegalStateException("the origin was not asked");
        }
        return call;
    }

    /**
     * Returns the head of the transformed response.
     *
     * @param head the head after the changes by rules and extensions; the transformations must have begun
     */
    public ResponseHead received(ResponseHead head) {
        StoredObject<StoredHead> stale = plan.stale();
        if (head.status() == 304) {
            return stale == null
                    ? EncodedHeads.confirmedTransformed(head, plan.request().fields())
                    : EncodedHeads.confirmedTransformed(head, stale.head());
        }
        if (plan.request().method() == Method.HEAD) {
            return EncodedHeads.mayTransform(head) ? EncodedHeads.transformed(head) : head;
        }
        body = hooks.takeTransforms();
        return body == null ? head : EncodedHeads.transformed(head);
    }

    /** Returns the framing of the content for the fetch. The length of transformed content is unknown. */
    public ResponseFraming framing(ResponseFraming received) {
        return body == null ? received : ResponseFraming.BY_CHUNKS;
    }

    // The response of the origin

    @Override
    public void onContinue() {
        next.onContinue();
    }

    @Override
    public void onInterim(ResponseHead head) {
        next.onInterim(head);
    }

    @Override
    public void onSwitched(ResponseHead head, SwitchedConnection connection) {
        next.onSwitched(head, connection);
    }

    @Override
    public void onRequestWritable() {
        next.onRequestWritable();
    }

    @Override
    public void onHead(ResponseHead head, ResponseFraming framing) {
        next.onHead(head, framing);
    }

    @Override
    public void onContent(ByteBuf content) {
        BodyTransforms transforms = body;
        if (ended) {
            content.release();
        } else if (transforms == null) {
            next.onContent(content);
        } else {
            try {
                pass(transforms.chunk(content));
            } catch (BodyTransforms.FailedException e) {
                fail(e);
            }
        }
    }

    private void pass(ByteBuf content) {
        if (content.isReadable()) {
            next.onContent(content);
        } else {
            content.release();
        }
    }

    private void fail(BodyTransforms.FailedException fault) {
        ended = true;
        close();
        origin().cancel();
        next.onFailure(new OriginFailure(OriginFailure.Reason.EXTENSION, String.valueOf(fault.getMessage()), false));
    }

    @Override
    public void onComplete(@Nullable FieldSection trailers) {
        BodyTransforms transforms = body;
        if (transforms == null) {
            ended = true;
            next.onComplete(trailers);
            return;
        }
        try {
            pass(transforms.end());
        } catch (BodyTransforms.FailedException e) {
            fail(e);
            return;
        }
        if (!ended) {
            ended = true;
            close();
            next.onComplete(EncodedHeads.encodedTrailers(trailers));
        }
    }

    @Override
    public void onFailure(OriginFailure failure) {
        ended = true;
        close();
        next.onFailure(failure);
    }

    private void close() {
        if (body != null) {
            body.close();
        }
    }

    // The call of the fetch

    @Override
    public void write(ByteBuf content) {
        origin().write(content);
    }

    @Override
    public void finishRequest() {
        origin().finishRequest();
    }

    @Override
    public boolean isRequestWritable() {
        return origin().isRequestWritable();
    }

    @Override
    public void pauseReading() {
        origin().pauseReading();
    }

    @Override
    public void resumeReading() {
        origin().resumeReading();
    }

    @Override
    public void cancel() {
        ended = true;
        close();
        origin().cancel();
    }

    @Override
    public SlowClients.OriginDemand demand() {
        return origin().demand();
    }
}
