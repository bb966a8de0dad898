package io.millrace.proxy.exchange;

import io.millrace.proxy.edge.EsiRule;
import io.millrace.proxy.edge.MirrorRule;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.forward.EncodedResponse;
import io.millrace.proxy.exchange.forward.Mirror;
import io.millrace.proxy.exchange.forward.MirroredCall;
import io.millrace.proxy.exchange.forward.OriginRequests;
import io.millrace.proxy.exchange.forward.OriginTimer;
import io.millrace.proxy.exchange.forward.TransformedResponse;
import io.millrace.proxy.exchange.origin.OriginTries;
import io.millrace.proxy.exchange.report.FailureCounters;
import io.millrace.proxy.extension.FetchHooks;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.origin.HostDatabase;
import org.jspecify.annotations.Nullable;

/**
 * The request of a fetch to the origin, and the call that receives its response. The request may be sent again if the
 * response is unusable. Also counts the outcome, and reports it to the {@link HostDatabase} and the {@link
 * OriginTimer}. The {@link SharedFetch} processes the response.
 *
 * <p>Confined to the fetch's event loop, except {@link #host}.
 */
final class FetchRequest {
    private final ExchangeLoop exchangeLoop;
    private final FetchPlan plan;
    private final SharedFetch fetch;
    private final OriginTimer timer;

    private @Nullable OriginCall call;
    /** Encodes the response of the current {@link #call}; null if the rule does not compress. */
    private @Nullable EncodedResponse encoding;
    /** Transforms the content of the current {@link #call}; null if the rule has no such extension. */
    private @Nullable TransformedResponse transformed;

    private long sentMillis;
    /**
     * True once a request was sent to the origin. If the fetch sends a second request, no stored variant may answer it.
     */
    private boolean isOriginAsked;

    FetchRequest(ExchangeLoop exchangeLoop, FetchPlan plan, SharedFetch fetch) {
        this.exchangeLoop = exchangeLoop;
        this.plan = plan;
        this.fetch = fetch;
        this.timer = new OriginTimer(exchangeLoop.counters(), exchangeLoop.overload(), plan);
    }

    /** Lets the hooks of extensions change the request, and sends it. */
    void prepare() {
        OriginRequests.prepare(plan, exchangeLoop.settings(), exchangeLoop.loop(), this::prepared);
    }

    /** Sends the request after the hooks of extensions, or fails the fetch if a failed hook refuses it. */
    private void prepared(@Nullable String failedExtension) {
        if (fetch.hasEnded()) {
            return;
        }
        if (failedExtension == null) {
            send();
        } else {
            fetch.onFailure(new OriginFailure(
                    OriginFailure.Reason.EXTENSION,
                    "extension " + failedExtension + " failed; no request was sent to the origin",
                    true));
        }
    }

    /** Sends the request if the memory budget admits another response; fails the fetch otherwise. */
    void send() {
        if (exchangeLoop.memory().admitsFetch()) {
            sendNow();
        } else {
            // Retry a request without content after the tasks that are already queued, because they may close slow
            // clients and free memory.
            boolean again = plan.contentLength() == 0;
            exchangeLoop.loop().execute(() -> {
                if (fetch.hasEnded()) {
                    return;
                }
                if (again && exchangeLoop.memory().admitsFetch()) {
                    sendNow();
                } else {
                    refuse();
                }
            });
        }
    }

    private void refuse() {
        fetch.onFailure(new OriginFailure(
                OriginFailure.Reason.MEMORY,
                "limits.memory_in_flight is reached; no request was sent to the origin",
                true));
    }

    /** Sends the request. If the rule compresses, a stored variant in another coding may answer it. */
    private void sendNow() {
        if (plan.cacheSettings().encoding().isOff()) {
            call = askOrigin(fetch);
            return;
        }
        EncodedResponse encoded = new EncodedResponse(
                plan,
                exchangeLoop.loop(),
                exchangeLoop.encoderThreads(),
                exchangeLoop.dictionaryOf(plan),
                exchangeLoop.counters(),
                EsiRule.of(exchangeLoop.settings().edge(), plan.mapped().rule().index()),
                fetch);
        VariantCall variant =
                isOriginAsked ? null : VariantCall.begin(exchangeLoop, plan, encoded, () -> askOrigin(encoded));
        if (variant != null) {
            sentMillis = exchangeLoop.clock().millis();
        }
        encoded.setOrigin(variant == null ? askOrigin(encoded) : variant);
        encoding = encoded;
        call = encoded;
    }

    /** Sends the request to the origin. Extensions may transform the content of the response for the handler. */
    private OriginCall askOrigin(OriginResponseHandler handler) {
        boolean isFirst = !isOriginAsked;
        isOriginAsked = true;
        sentMillis = exchangeLoop.clock().millis();
        timer.sent();
        exchangeLoop
                .counters()
                .increment(plan.stale() == null ? Counter.ORIGIN_REQUESTS_FETCH : Counter.ORIGIN_REQUESTS_VALIDATION);
        FetchHooks hooks = plan.hooks();
        if (hooks == null || !hooks.transformsBodies()) {
            return ask(handler, isFirst);
        }
        TransformedResponse transforming = new TransformedResponse(plan, hooks, exchangeLoop.loop(), handler);
        transforming.setOrigin(ask(transforming, isFirst));
        transformed = transforming;
        return transforming;
    }

    /** Sends the request, and a copy of the first request if the rule mirrors it. */
    private OriginCall ask(OriginResponseHandler handler, boolean isFirst) {
        MirrorRule rule = isFirst ? Mirror.ruleOf(plan, exchangeLoop.settings()) : null;
        return rule == null
                ? OriginTries.fetch(exchangeLoop, plan, handler)
                : exchangeLoop
                        .mirror()
                        .fetch(
                                rule,
                                plan,
                                exchangeLoop.settings(),
                                handler,
                                receiver -> OriginTries.fetch(exchangeLoop, plan, receiver));
    }

    /** Returns the current call; null before the request is sent. */
    @Nullable
    OriginCall call() {
        return call;
    }

    /** Returns the encoder of the current response; null if the rule does not compress. */
    @Nullable
    EncodedResponse encoding() {
        return encoding;
    }

    /** Returns the transformation of the current response; null if the rule has no such extension. */
    @Nullable
    TransformedResponse transformed() {
        return transformed;
    }

    /** Returns when the request was sent, in epoch milliseconds. */
    long sentMillis() {
        return sentMillis;
    }

    /**
     * Returns the host of the origin group to which the last request was sent; null when the rule has no group.
     * Callable from any thread after a follower callback.
     */
    @Nullable
    String host() {
        OriginCall asked = call instanceof EncodedResponse encoded ? encoded.origin() : call;
        asked = asked instanceof VariantCall variant ? variant.origin() : asked;
        asked = asked instanceof TransformedResponse transforming ? transforming.origin() : asked;
        asked = asked instanceof MirroredCall mirrored ? mirrored.origin() : asked;
        return asked instanceof OriginTries tries ? tries.host() : null;
    }

    /** Pauses or resumes reading of the response. */
    void flow(boolean open) {
        if (call == null) {
            return;
        }
        if (open) {
            call.resumeReading();
        } else {
            call.pauseReading();
        }
    }

    /** Returns how urgently other requests need the origin connection. */
    SlowClients.OriginDemand demand() {
        return call == null ? SlowClients.OriginDemand.NONE : call.demand();
    }

    void cancel() {
        if (call != null) {
            call.cancel();
        }
    }

    /** Records that no exchange waits for the response head any more. */
    void cancelled() {
        if (call != null) {
            timer.cancelled();
        }
    }

    /** Records the arrival of the response head, and that the origin has answered if it is a single host. */
    void headArrived(ResponseHead head) {
        if (plan.mapped().originGroup() == null) {
            exchangeLoop
                    .hosts()
                    .answered(
                            OriginRequests.origin(plan.mapped()),
                            head.version(),
                            exchangeLoop.clock().millis());
        }
        timer.headArrived();
    }

    /** Reports to the overload gauge that the origin has answered. */
    void answered(boolean isServerError) {
        timer.answered(isServerError);
    }

    /** Counts a failure of the request, and records it if it shows a fault of the origin. */
    void failed(OriginFailure failure) {
        exchangeLoop.counters().increment(FailureCounters.of(failure.reason()));
        if (failure.beforeHead() && failure.reason().isOriginFault()) {
            timer.answered(true);
        }
        if (plan.mapped().originGroup() == null && HostDatabase.isCounted(failure.reason())) {
            exchangeLoop
                    .hosts()
                    .failed(
                            OriginRequests.origin(plan.mapped()),
                            failure.reason().text(),
                            exchangeLoop.clock().millis(),
                            exchangeLoop.settings().markdown());
        }
    }
}
