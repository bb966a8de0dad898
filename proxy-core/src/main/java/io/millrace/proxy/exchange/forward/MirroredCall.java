package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.edge.MirrorRule;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.memory.SlowClients;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A call to an origin whose request content is copied. Once the content is complete, the copy is sent to another
 * origin. Passes every call and event on. The copy is in the Java heap, so that the buffers of the connection can be
 * released.
 *
 * <p>Confined to one event loop.
 */
public final class MirroredCall implements OriginCall, OriginResponseHandler {
    private static final int FIRST_BYTES = 1024;

    private final Mirror mirror;
    private final MirrorRule rule;
    private final FetchPlan plan;
    private final ExchangeSettings settings;
    private final OriginResponseHandler handler;
    private @Nullable OriginCall call;
    /** The content so far; null once it was sent or dropped. */
    private byte @Nullable [] copy = {};

    private int length;

    MirroredCall(
            Mirror mirror, MirrorRule rule, FetchPlan plan, ExchangeSettings settings, OriginResponseHandler handler) {
        this.mirror = mirror;
        this.rule = rule;
        this.plan = plan;
        this.settings = settings;
        this.handler = handler;
        if (plan.contentLength() > rule.bodyBytesMax()) {
            drop();
        }
    }

    /** Sets the call whose content is copied. */
    void setOrigin(OriginCall copied) {
        call = copied;
    }

    /** The call whose content is copied. */
    public OriginCall origin() {
        OriginCall copied = call;
        if (copied == null) {
            throw new IllegalStateException("no call");
        }
        return copied;
    }

    /** Drops the copy. Does nothing if it was sent or dropped. */
    private void drop() {
        if (copy != null) {
            mirror.release(copy.length);
            copy = null;
            mirror.dropped();
        }
    }

    private void append(ByteBuf content) {
        byte[] bytes = copy;
        int more = content.readableBytes();
        if (bytes == null) {
            return;
        }
        if (more > rule.bodyBytesMax() - length) {
            drop();
            return;
        }
        if (length + more > bytes.length) {
            int size = Math.min(rule.bodyBytesMax(), Math.max(length + more, Math.max(FIRST_BYTES, 2 * bytes.length)));
            if (!mirror.reserve(size - bytes.length)) {
                drop();
                return;
            }
            bytes = Arrays.copyOf(bytes, size);
            copy = bytes;
        }
        content.getBytes(content.readerIndex(), bytes, length, more);
        length += more;
    }

    @Override
    public void write(ByteBuf content) {
        append(content);
        origin().write(content);
    }

    @Override
    public void finishRequest() {
        origin().finishRequest();
        byte[] bytes = copy;
        if (bytes != null) {
            copy = null;
            mirror.release(bytes.length - length);
            mirror.send(rule, plan, settings, bytes.length == length ? bytes : Arrays.copyOf(bytes, length));
        }
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
        drop();
        origin().cancel();
    }

    @Override
    public SlowClients.OriginDemand demand() {
        return origin().demand();
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
        drop();
        handler.onSwitched(head, connection);
    }

    @Override
    public void onRequestWritable() {
        handler.onRequestWritable();
    }

    @Override
    public void onHead(ResponseHead head, ResponseFraming framing) {
        handler.onHead(head, framing);
    }

    @Override
    public void onContent(ByteBuf content) {
        handler.onContent(content);
    }

    @Override
    public void onComplete(@Nullable FieldSection trailers) {
        drop();
        handler.onComplete(trailers);
    }

    @Override
    public void onFailure(OriginFailure failure) {
        drop();
        handler.onFailure(failure);
    }
}
