package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.edge.EdgeRules;
import io.millrace.proxy.edge.MirrorRule;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.LoopCounters;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Sends copies of requests to another origin, and discards its answers. A copy is sent after the request itself. Copies
 * use their own connections and limits, so that they neither delay requests nor make them fail. If a limit is reached,
 * the copy is dropped.
 *
 * <p>Confined to one event loop.
 */
public final class Mirror {
    /** Limit of copies in progress, so that an origin that never answers cannot fill the memory. */
    private static final int COPIES_MAX = 10_000;

    /** Limit in bytes of the content of all copies in progress. */
    private static final int BYTES_MAX = 16 << 20;

    /** Limit in bytes of an answer that is read to its end, so that its connection can be used again. */
    private static final int DRAINED_BYTES_MAX = 1 << 20;

    private static final FaultLog FAULTS =
            new FaultLog(LoggerFactory.getLogger(Mirror.class), TimeUnit.MINUTES.toNanos(1), System::nanoTime);

    private final OriginClient origins;
    private final LoopCounters counters;
    /** Number of copies in progress. */
    private int copies;

    /** Reserved bytes of the content of all copies. */
    private int bytes;

    public Mirror(OriginClient origins, LoopCounters counters) {
        this.origins = origins;
        this.counters = counters;
    }

    /** Returns the rule for copies of the requests of a plan; null if this request is not copied. */
    public static @Nullable MirrorRule ruleOf(FetchPlan plan, ExchangeSettings settings) {
        EdgeRules edge = settings.edge();
        MirrorRule rule = edge == null ? null : edge.mirror(plan.mapped().rule().index());
        return rule == null || plan.upgrade() != null || !rule.isSampled() ? null : rule;
    }

    /**
     * Sends a request, and a copy of it.
     *
     * @param handler receives the response to the request
     * @param begin sends the request itself; its argument is the handler that must receive the response
     */
    public OriginCall fetch(
            MirrorRule rule,
            FetchPlan plan,
            ExchangeSettings settings,
            OriginResponseHandler handler,
            Function<OriginResponseHandler, OriginCall> begin) {
        if (plan.contentLength() == 0) {
            OriginCall call = begin.apply(handler);
            send(rule, plan, settings, null);
            return call;
        }
        if (!rule.copiesBodies()) {
            return begin.apply(handler);
        }
        MirroredCall copied = new MirroredCall(this, rule, plan, settings, handler);
        copied.setOrigin(begin.apply(copied));
        return copied;
    }

    /** Reserves memory for content to copy. Returns false if the limit is reached. The caller then drops the copy. */
    boolean reserve(int length) {
        if (bytes + length > BYTES_MAX) {
            return false;
        }
        bytes += length;
        return true;
    }

    /** Releases the reserved memory of content that is no longer needed. */
    void release(int length) {
        bytes -= length;
    }

    /** Counts a copy that is not sent. */
    void dropped() {
        counters.increment(Counter.MIRRORED_DROPPED);
    }

    /**
     * Sends a copy. Never throws: the request itself is in progress.
     *
     * @param content the content, whose bytes are reserved; null for a request without content
     */
    void send(MirrorRule rule, FetchPlan plan, ExchangeSettings settings, byte @Nullable [] content) {
        int length = content == null ? 0 : content.length;
        if (copies >= COPIES_MAX) {
            release(length);
            dropped();
            return;
        }
        Answer answer = new Answer(rule, length);
        try {
            OriginRequest request = OriginRequests.copy(plan, settings, rule, content == null ? -1 : length);
            copies++;
            answer.isInProgress = true;
            OriginCall call = origins.fetch(request, answer);
            answer.call = call;
            if (content != null) {
                finish(call, content);
            }
        } catch (RuntimeException e) {
            answer.end(Counter.MIRRORED_FAILED);
            FAULTS.report("a copy of a request could not be sent (mirror)", null, e);
        }
    }

    /**
     * Sends the content of a copy. If that fails, cancels the call, because its connection would stay in use otherwise.
     */
    static void finish(OriginCall call, byte[] content) {
        try {
            if (content.length > 0) {
                call.write(Unpooled.wrappedBuffer(content));
            }
            call.finishRequest();
        } catch (RuntimeException e) {
            call.cancel();
            throw e;
        }
    }

    /** Discards the answer to a copy. */
    private final class Answer implements OriginResponseHandler {
        private final MirrorRule rule;
        private final int reservedBytes;
        private @Nullable OriginCall call;
        private boolean isInProgress;
        private boolean isEnded;
        private long discardedBytes;

        Answer(MirrorRule rule, int reservedBytes) {
            this.rule = rule;
            this.reservedBytes = reservedBytes;
        }

        void end(Counter result) {
            if (isEnded) {
                return;
            }
            isEnded = true;
            copies -= isInProgress ? 1 : 0;
            release(reservedBytes);
            counters.increment(result);
        }

        @Override
        public void onHead(ResponseHead head, ResponseFraming framing) {
            // Any status counts as an answer.
        }

        @Override
        public void onContent(ByteBuf content) {
            discardedBytes += content.readableBytes();
            content.release();
            if (discardedBytes > DRAINED_BYTES_MAX && call != null) {
                call.cancel();
                end(Counter.MIRRORED_SENT);
            }
        }

        @Override
        public void onComplete(@Nullable FieldSection trailers) {
            end(Counter.MIRRORED_SENT);
        }

        @Override
        public void onFailure(OriginFailure failure) {
            boolean isOverLimit = failure.reason() == OriginFailure.Reason.QUEUE_FULL
                    || failure.reason() == OriginFailure.Reason.QUEUE_TIMEOUT;
            end(isOverLimit ? Counter.MIRRORED_DROPPED : Counter.MIRRORED_FAILED);
            if (!isOverLimit) {
                FAULTS.reportFrequent(
                        "the other origin of mirror did not answer a copy",
                        () -> rule.origin() + ": " + failure.message());
            }
        }
    }
}
