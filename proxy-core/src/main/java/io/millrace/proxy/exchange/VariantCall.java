package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.encoding.EncodedHeads;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.reuse.VariantKey;
import io.millrace.proxy.caching.reuse.VariantList;
import io.millrace.proxy.caching.settings.ContentCoding;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.encode.ContentDecoders;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.Variants;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * A call that takes the content from a stored variant in another content coding. It asks the origin if no variant is
 * fresh, or if the content is too long. So one response of the origin serves clients of all codings.
 *
 * <p>Confined to one event loop.
 */
final class VariantCall implements OriginCall {
    /** Limits log lines: an origin can send any number of responses whose content is invalid in its declared coding. */
    private static final FaultLog FAULTS =
            new FaultLog(LoggerFactory.getLogger(VariantCall.class), TimeUnit.MINUTES.toNanos(1), System::nanoTime);

    /** Limit of the stored content in bytes. The content is in memory while it is decoded. */
    static final int ENCODED_BYTES_MAX = 256 * 1024;

    /** Limit of the decoded content in bytes. */
    static final int DECODED_BYTES_MAX = 1 << 20;

    /** Number of buffers of the content above which Netty merges them. */
    private static final int PIECES_MAX = 64;

    private final ExchangeLoop exchangeLoop;
    private final FetchPlan plan;
    private final OriginResponseHandler handler;
    private final Supplier<OriginCall> askOrigin;
    /** Normal forms of Accept-Encoding whose variants are tried, in order. */
    private final Queue<String> codings = new ArrayDeque<>();

    private @Nullable OriginCall origin;
    private boolean cancelled;

    private VariantCall(
            ExchangeLoop exchangeLoop, FetchPlan plan, OriginResponseHandler handler, Supplier<OriginCall> askOrigin) {
        this.exchangeLoop = exchangeLoop;
        this.plan = plan;
        this.handler = handler;
        this.askOrigin = askOrigin;
    }

    /**
     * Begins a call if the URL has variants, and the rule compresses.
     *
     * @param askOrigin sends the request to the origin
     * @return null if only the origin can answer
     */
    static @Nullable VariantCall begin(
            ExchangeLoop exchangeLoop, FetchPlan plan, OriginResponseHandler handler, Supplier<OriginCall> askOrigin) {
        StoredHead marker = plan.marker();
        if (marker == null
                || plan.primaryKey() == null
                || !marker.variance().names().contains(FieldName.ACCEPT_ENCODING)
                || !plan.mayStore()
                || plan.stale() != null
                || plan.range() != null
                || plan.firstPart() != null
                || plan.request().method() != Method.GET
                || plan.request().fields().hasToken(FieldName.CACHE_CONTROL, "no-transform")) {
            return null;
        }
        VariantCall call = new VariantCall(exchangeLoop, plan, handler, askOrigin);
        EncodingRules rules = plan.cacheSettings().encoding();
        String ownForm = rules.normalForm(plan.request().fields());
        for (String form : rules.normalForms()) {
            if (!form.equals(ownForm) && VariantList.contains(marker, call.valuesOf(marker, form))) {
                call.codings.add(form);
            }
        }
        if (call.codings.isEmpty()) {
            return null;
        }
        exchangeLoop.loop().execute(call::tryNext);
        return call;
    }

    private byte[] valuesOf(StoredHead marker, String form) {
        FieldSection fields = Variants.fieldsFor(plan.request().fields(), form);
        return marker.variance().valuesOf(fields, plan.cacheSettings().encoding());
    }

    /** The call to the origin; null if it was not asked. */
    @Nullable
    OriginCall origin() {
        return origin;
    }

    /** Looks for the variant in the next coding. Asks the origin if no coding is left. */
    private void tryNext() {
        if (cancelled) {
            return;
        }
        String form = codings.poll();
        StoreKey primary = plan.primaryKey();
        StoredHead marker = plan.marker();
        if (form == null || primary == null || marker == null) {
            origin = askOrigin.get();
            return;
        }
        StoreKey key = exchangeLoop.store().key(VariantKey.of(primary.bytes(), marker, valuesOf(marker, form)));
        StoredObject<StoredHead> inRam = exchangeLoop.store().get(key);
        if (inRam != null) {
            found(form, inRam);
        } else {
            exchangeLoop.store().open(key, exchangeLoop.loop(), object -> found(form, object));
        }
    }

    /** Reads the variant if it is usable; otherwise tries the next coding. Takes over the reference. */
    private void found(String form, @Nullable StoredObject<StoredHead> object) {
        if (object == null || cancelled || !isUsable(form, object)) {
            if (object != null) {
                object.release();
            }
            tryNext();
            return;
        }
        if (!exchangeLoop.encoderThreads().takePermit()) {
            object.release();
            codings.clear();
            tryNext();
            return;
        }
        readRest(form, object, exchangeLoop.encoderThreads().allocator().compositeDirectBuffer(PIECES_MAX));
    }

    /** Returns true if the variant is complete, fresh, short enough and really in this coding. */
    private boolean isUsable(String form, StoredObject<StoredHead> object) {
        StoredHead head = object.head();
        if (head.isVaryMarker()
                || head.status() != 200
                || !object.isComplete()
                || object.length() > ENCODED_BYTES_MAX
                || !EncodedHeads.isIn(head.fields(), form)
                || !EncodedHeads.mayDecode(head.fields(), plan.cacheSettings().encoding())) {
            return false;
        }
        FieldSection fields = Variants.fieldsFor(plan.request().fields(), form);
        RequestHead variantRequest = RequestHead.of("GET", plan.request().target(), fields);
        long nowMillis = exchangeLoop.clock().millis();
        Outdated outdated = exchangeLoop.invalidations().of(plan.keyUrl(), head, object.length());
        return Reuse.of(variantRequest, head, nowMillis, plan.cacheSettings(), outdated) instanceof Reuse.Fresh;
    }

    /** Reads the rest of the content piece by piece, then decodes it. */
    private void readRest(String form, StoredObject<StoredHead> object, CompositeByteBuf content) {
        int left = (int) (object.length() - content.readableBytes());
        if (cancelled || left == 0) {
            decode(form, object, content);
            return;
        }
        int length = Math.min(left, StoredObject.READ_LENGTH_MAX);
        object.read(content.readableBytes(), length, exchangeLoop.loop(), (piece, failure) -> {
            if (piece == null) {
                object.release();
                drop(content);
                tryNext();
            } else {
                content.addComponent(true, piece);
                readRest(form, object, content);
            }
        });
    }

    private void decode(String form, StoredObject<StoredHead> object, CompositeByteBuf content) {
        StoredHead head = object.head();
        object.release();
        if (cancelled) {
            drop(content);
            return;
        }
        try {
            exchangeLoop.encoderThreads().decode(() -> decodeNow(form, head, content));
        } catch (RejectedExecutionException e) {
            // The proxy is closing.
            drop(content);
            codings.clear();
            tryNext();
        }
    }

    /** Releases the content, and the permit to decode it. Callable from any thread. */
    private void drop(ByteBuf content) {
        content.release();
        exchangeLoop.encoderThreads().returnPermit();
    }

    /** Decodes the content on an encoder thread. */
    private void decodeNow(String form, StoredHead head, ByteBuf content) {
        ByteBuf decoded = null;
        Throwable failure = null;
        try {
            decoded = ContentDecoders.decode(ContentCoding.ofToken(form), content, DECODED_BYTES_MAX);
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        } finally {
            drop(content);
        }
        ByteBuf result = decoded;
        Throwable fault = failure;
        try {
            exchangeLoop.loop().execute(() -> decoded(form, head, result, fault));
        } catch (RejectedExecutionException e) {
            // The event loop has already stopped, because the proxy is closing.
            if (result != null) {
                result.release();
            }
        }
    }

    /** Passes the decoded content to the handler; tries the next coding if it could not be decoded. */
    private void decoded(String form, StoredHead head, @Nullable ByteBuf content, @Nullable Throwable fault) {
        if (fault != null) {
            String url = plan.request().target().asString();
            FAULTS.report("a stored variant cannot be decoded", form + ", for " + url, fault);
        }
        if (content == null) {
            tryNext();
            return;
        }
        if (cancelled) {
            content.release();
            return;
        }
        plan.forwardingRules(exchangeLoop.settings().access());
        plan.sourceHead(head);
        long ageSeconds = head.currentAgeSeconds(exchangeLoop.clock().millis());
        ResponseHead answer = EncodedHeads.decoded(head, content.readableBytes(), ageSeconds);
        handler.onHead(answer, new ResponseFraming(ResponseFraming.Kind.LENGTH, content.readableBytes()));
        if (cancelled) {
            content.release();
            return;
        }
        handler.onContent(content);
        if (!cancelled) {
            handler.onComplete(null);
        }
    }

    @Override
    public void write(ByteBuf content) {
        content.release();
    }

    @Override
    public void finishRequest() {
        // A GET without content.
    }

    @Override
    public boolean isRequestWritable() {
        return true;
    }

    @Override
    public void pauseReading() {
        OriginCall call = origin;
        if (call != null) {
            call.pauseReading();
        }
    }

    @Override
    public void resumeReading() {
        OriginCall call = origin;
        if (call != null) {
            call.resumeReading();
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        OriginCall call = origin;
        if (call != null) {
            call.cancel();
        }
    }

    @Override
    public SlowClients.OriginDemand demand() {
        OriginCall call = origin;
        return call == null ? SlowClients.OriginDemand.NONE : call.demand();
    }
}
