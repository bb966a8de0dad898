package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.encoding.EncodedHeads;
import io.millrace.proxy.caching.settings.ContentCoding;
import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.edge.EsiRule;
import io.millrace.proxy.encode.CompressionDictionary;
import io.millrace.proxy.encode.EncodedBody;
import io.millrace.proxy.encode.EncoderThreads;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call to an origin that encodes the response. The fetch receives the encoded response as if the origin had sent it,
 * stores it as a variant, and passes it to followers and readers. Used only if the rule compresses.
 *
 * <pre>
 * origin -> this -> EncodedBody (event loop, or threads for encoding) -> SharedFetch
 * </pre>
 *
 * <p>Confined to one event loop.
 */
public final class EncodedResponse implements OriginCall, OriginResponseHandler, EncodedBody.Receiver {
    private static final Logger log = LoggerFactory.getLogger(EncodedResponse.class);

    private final FetchPlan plan;
    private final EncodingRules rules;
    private final EventExecutor loop;
    private final EncoderThreads threads;
    private final @Nullable CompressionDictionary dictionary;
    private final LoopCounters counters;
    private final OriginResponseHandler fetch;
    private final @Nullable EsiRule esi;
    private @Nullable OriginCall origin;
    private @Nullable ContentCoding coding;
    private @Nullable EncodedBody body;
    private @Nullable FieldSection trailers;
    /**
     * True if the response lacks the coding of its variant. Such a response answers only the clients that are waiting
     * now.
     */
    private boolean lacksVariantCoding;
    /** True while the fetch accepts no content. */
    private boolean isPaused;
    /** True once the origin's response has ended. */
    private boolean ended;

    /**
     * @param dictionary the dictionary that the request names; null for none
     * @param esi the settings for ESI, since ESI documents are stored without a coding; null for none
     */
    public EncodedResponse(
            FetchPlan plan,
            EventExecutor loop,
            EncoderThreads threads,
            @Nullable CompressionDictionary dictionary,
            LoopCounters counters,
            @Nullable EsiRule esi,
            OriginResponseHandler fetch) {
        this.plan = plan;
        this.rules = plan.cacheSettings().encoding();
        this.loop = loop;
        this.threads = threads;
        this.dictionary = dictionary;
        this.counters = counters;
        this.esi = esi;
        this.fetch = fetch;
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
     * Returns the head for the fetch, and begins to encode the content if the client accepts a coding.
     *
     * @param head the origin's head, after the changes by rules
     */
    public ResponseHead received(ResponseHead head, ResponseFraming framing) {
        StoredObject<StoredHead> stale = plan.stale();
        if (head.status() == 304) {
            return stale == null
                    ? EncodedHeads.confirmed(head, plan.request().fields(), rules)
                    : EncodedHeads.confirmed(head, stale.head(), rules);
        }
        boolean isHead = plan.request().method() == Method.HEAD;
        long length = isHead ? EncodedHeads.declaredLength(head) : framing.contentLength();
        if (esi != null && esi.isDocument(head.fields())) {
            return head;
        }
        if (!EncodedHeads.mayEncode(head, length, rules)) {
            return EncodedHeads.encodedByOrigin(head, rules);
        }
        ContentCoding chosen = rules.choose(plan.request().fields());
        lacksVariantCoding = false;
        if (chosen != null && !isHead) {
            body = begin(chosen, length);
            if (body == null) {
                lacksVariantCoding = true;
                chosen = chosen.usesDictionary() ? withoutDictionary(plan.request()) : null;
                body = chosen == null ? null : begin(chosen, length);
                chosen = body == null ? null : chosen;
            }
        }
        coding = chosen;
        if (chosen == null) {
            counters.increment(Counter.COMPRESSION_PLAIN);
            return EncodedHeads.varied(head, rules);
        }
        if (!isHead) {
            counters.increment(responses(chosen));
        }
        return EncodedHeads.encoded(head, chosen, rules);
    }

    /** Begins to encode; returns null if there are too many encoders, or the dictionary has been dropped since. */
    private @Nullable EncodedBody begin(ContentCoding chosen, long length) {
        if (!chosen.usesDictionary()) {
            return EncodedBody.begin(loop, threads, chosen, rules.level(chosen), length, this);
        }
        CompressionDictionary chosenDictionary = dictionary;
        return chosenDictionary == null
                ? null
                : EncodedBody.begin(loop, threads, chosen, rules.level(chosen), chosenDictionary, length, this);
    }

    /** Returns the coding that a client without a dictionary would get; null for none. */
    private @Nullable ContentCoding withoutDictionary(RequestHead request) {
        return rules.choose(FieldSection.builder()
                .addAll(request.fields())
                .remove(DictionaryRules.AVAILABLE_DICTIONARY)
                .build());
    }

    /**
     * Returns true if the response lacks the coding of its variant (the coding that the request selects), because too
     * many other responses are being encoded, or because the dictionary was dropped. Such a response must not be
     * stored, since later clients expect the coding of the variant.
     */
    public boolean lacksVariantCoding() {
        return lacksVariantCoding;
    }

    /**
     * Returns true if a follower accepts the coding of the response. Every follower accepts the coding of the variant.
     */
    public boolean isAcceptedBy(RequestHead follower) {
        return !lacksVariantCoding || coding == null || coding == withoutDictionary(follower);
    }

    /** Returns the framing of the content for the fetch. The length of encoded content is unknown. */
    public ResponseFraming framing(ResponseFraming received) {
        return body == null ? received : ResponseFraming.BY_CHUNKS;
    }

    // The response of the origin

    @Override
    public void onContinue() {
        fetch.onContinue();
    }

    @Override
    public void onInterim(ResponseHead head) {
        fetch.onInterim(head);
    }

    @Override
    public void onSwitched(ResponseHead head, SwitchedConnection connection) {
        fetch.onSwitched(head, connection);
    }

    @Override
    public void onRequestWritable() {
        fetch.onRequestWritable();
    }

    @Override
    public void onHead(ResponseHead head, ResponseFraming framing) {
        fetch.onHead(head, framing);
    }

    @Override
    public void onContent(ByteBuf content) {
        EncodedBody encoding = body;
        if (encoding == null) {
            fetch.onContent(content);
            return;
        }
        encoding.content(content);
        if (encoding.isFull()) {
            origin().pauseReading();
        }
    }

    @Override
    public void onComplete(@Nullable FieldSection received) {
        ended = true;
        EncodedBody encoding = body;
        if (encoding == null) {
            fetch.onComplete(received);
            return;
        }
        trailers = EncodedHeads.encodedTrailers(received);
        encoding.finish();
    }

    @Override
    public void onFailure(OriginFailure failure) {
        ended = true;
        close();
        fetch.onFailure(failure);
    }

    // The encoded content

    @Override
    public void onEncoded(ByteBuf content, int originBytes) {
        ContentCoding chosen = coding;
        if (chosen != null) {
            counters.add(bytesIn(chosen), originBytes);
            counters.add(bytesOut(chosen), content.readableBytes());
        }
        if (content.isReadable()) {
            fetch.onContent(content);
        } else {
            content.release();
        }
    }

    @Override
    public void onDrained() {
        regulate();
    }

    @Override
    public void onEnd() {
        fetch.onComplete(trailers);
    }

    @Override
    public void onFault(Throwable fault) {
        log.error("the content from {} could not be encoded", plan.mapped().originHost(), fault);
        if (!ended) {
            origin().cancel();
        }
        fetch.onFailure(new OriginFailure(OriginFailure.Reason.INTERNAL, "the content could not be encoded", false));
    }

    private static Counter responses(ContentCoding coding) {
        return switch (coding) {
            case BROTLI -> Counter.COMPRESSED_BR;
            case ZSTD -> Counter.COMPRESSED_ZSTD;
            case GZIP -> Counter.COMPRESSED_GZIP;
            case DICTIONARY_BROTLI -> Counter.COMPRESSED_DCB;
            case DICTIONARY_ZSTD -> Counter.COMPRESSED_DCZ;
        };
    }

    private static Counter bytesIn(ContentCoding coding) {
        return switch (coding) {
            case BROTLI -> Counter.COMPRESSION_IN_BR;
            case ZSTD -> Counter.COMPRESSION_IN_ZSTD;
            case GZIP -> Counter.COMPRESSION_IN_GZIP;
            case DICTIONARY_BROTLI -> Counter.COMPRESSION_IN_DCB;
            case DICTIONARY_ZSTD -> Counter.COMPRESSION_IN_DCZ;
        };
    }

    private static Counter bytesOut(ContentCoding coding) {
        return switch (coding) {
            case BROTLI -> Counter.COMPRESSION_OUT_BR;
            case ZSTD -> Counter.COMPRESSION_OUT_ZSTD;
            case GZIP -> Counter.COMPRESSION_OUT_GZIP;
            case DICTIONARY_BROTLI -> Counter.COMPRESSION_OUT_DCB;
            case DICTIONARY_ZSTD -> Counter.COMPRESSION_OUT_DCZ;
        };
    }

    private void close() {
        EncodedBody encoding = body;
        if (encoding != null) {
            encoding.close();
        }
    }

    private void regulate() {
        EncodedBody encoding = body;
        if (!ended && !isPaused && (encoding == null || !encoding.isFull())) {
            origin().resumeReading();
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
        if (!ended) {
            origin().pauseReading();
        }
    }

    @Override
    public void resumeReading() {
        isPaused = false;
        regulate();
    }

    @Override
    public void cancel() {
        close();
        if (!ended) {
            origin().cancel();
        }
    }

    @Override
    public SlowClients.OriginDemand demand() {
        return ended ? SlowClients.OriginDemand.NONE : origin().demand();
    }
}
