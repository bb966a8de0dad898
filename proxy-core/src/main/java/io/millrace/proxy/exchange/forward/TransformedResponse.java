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
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A call to an origin whose response content is transformed by extensions. The fetch, and an encoder before it, receive
 * the transformed content as if the origin had sent it. Used only if the rule has such an extension.
 *
 * <p>Confined to one event loop.
 */
public final class TransformedResponse implements OriginCall, OriginResponseHandler, BodyTransforms.Receiver {
    private final FetchPlan plan;
    private final FetchHooks hooks;
    private final EventExecutor loop;
    private final OriginResponseHandler next;
    private @Nullable OriginCall origin;
    private @Nullable BodyTransforms body;
    /**
     * Content that waits until an earlier piece is transformed. At most one receive buffer of the origin's connection.
     */
    private final Queue<ByteBuf> waiting = new ArrayDeque<>();

    private @Nullable FieldSection trailers;
    /** True once the origin has sent all content. */
    private boolean isComplete;
    /** True once the call to the origin has ended. */
    private boolean isOriginEnded;
    /** True while the fetch accepts no content. */
    private boolean isPaused;
    /** True while reading is paused because a piece is transformed. */
    private boolean isWaiting;
    /** True while waiting pieces are passed to the transformations. */
    private boolean isFeeding;
    /** True once the response has ended for the fetch, or a transformation failed. */
    private boolean ended;

    /** @param next receives the events of the transformed response */
    public TransformedResponse(FetchPlan plan, FetchHooks hooks, EventExecutor loop, OriginResponseHandler next) {
        this.plan = plan;
        this.hooks = hooks;
        this.loop = loop;
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
        BodyTransforms transforms = hooks.takeTransforms();
        body = transforms;
        if (transforms == null) {
            return head;
        }
        transforms.begin(loop, this);
        return EncodedHeads.transformed(head);
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
        if (ended) {
            content.release();
        } else if (body == null) {
            next.onContent(content);
        } else {
            waiting.add(content);
            feed();
        }
    }

    @Override
    public void onComplete(@Nullable FieldSection received) {
        isOriginEnded = true;
        if (body == null) {
            ended = true;
            next.onComplete(received);
            return;
        }
        isComplete = true;
        trailers = received;
        feed();
    }

    @Override
    public void onFailure(OriginFailure failure) {
        isOriginEnded = true;
        close();
        next.onFailure(failure);
    }

    /** Passes waiting pieces to the transformations, and pauses reading while they are busy. */
    private void feed() {
        BodyTransforms transforms = body;
        if (isFeeding || transforms == null) {
            return;
        }
        isFeeding = true;
        while (!ended && !transforms.isBusy()) {
            ByteBuf piece = waiting.poll();
            if (piece != null) {
                transforms.chunk(piece);
            } else if (isComplete) {
                isComplete = false;
                transforms.end();
            } else {
                break;
            }
        }
        isFeeding = false;
        regulate(transforms.isBusy());
    }

    private void regulate(boolean isBusy) {
        if (ended || isOriginEnded || isBusy == isWaiting) {
            return;
        }
        isWaiting = isBusy;
        if (isBusy) {
            origin().pauseReading();
        } else if (!isPaused) {
            origin().resumeReading();
        }
    }

    // The transformed content

    @Override
    public void onTransformed(ByteBuf content, boolean isEnd) {
        if (ended) {
            content.release();
            return;
        }
        if (content.isReadable()) {
            next.onContent(content);
        } else {
            content.release();
        }
        // The fetch may have cancelled the call.
        if (isEnd && !ended) {
            close();
            next.onComplete(EncodedHeads.encodedTrailers(trailers));
            return;
        }
        feed();
    }

    @Override
    public void onTransformFailure(BodyTransforms.FailedException fault) {
        close();
        cancelOrigin();
        next.onFailure(new OriginFailure(OriginFailure.Reason.EXTENSION, String.valueOf(fault.getMessage()), false));
    }

    private void close() {
        ended = true;
        waiting.forEach(ByteBuf::release);
        waiting.clear();
        if (body != null) {
            body.close();
        }
    }

    private void cancelOrigin() {
        if (!isOriginEnded) {
            isOriginEnded = true;
            origin().cancel();
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
        isPaused = true;
        if (!isOriginEnded) {
            origin().pauseReading();
        }
    }

    @Override
    public void resumeReading() {
        isPaused = false;
        if (!isOriginEnded && !isWaiting) {
            origin().resumeReading();
        }
    }

    @Override
    public void cancel() {
        close();
        cancelOrigin();
    }

    @Override
    public SlowClients.OriginDemand demand() {
        return isOriginEnded ? SlowClients.OriginDemand.NONE : origin().demand();
    }
}
