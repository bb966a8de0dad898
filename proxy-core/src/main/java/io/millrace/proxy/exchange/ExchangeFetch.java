package io.millrace.proxy.exchange;

import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.forward.FollowTimer;
import io.millrace.proxy.exchange.forward.HeldContent;
import io.millrace.proxy.exchange.report.ExchangePhase;
import io.millrace.proxy.exchange.report.ExchangeState;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.Counter;
import io.millrace.store.StoreKey;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The origin side of an exchange. It manages the fetch that the exchange leads or follows, the timeout for following,
 * and the transfer of request content to the origin.
 *
 * <p>Confined to the exchange's event loop.
 */
final class ExchangeFetch {
    /** Prefix of the media types of gRPC. */
    private static final String GRPC = "application/grpc";

    private final ExchangeLoop exchangeLoop;
    private final ClientStream stream;
    private final ExchangeState state;
    private final FetchPlans plans;
    private final FetchFollower exchange;
    private final long contentLength;
    private final FollowTimer followTimer = new FollowTimer();

    private @Nullable SharedFetch fetch;
    /** The plan that starts once {@link #held} contains enough content; null for none. */
    private @Nullable FetchPlan heldPlan;

    /**
     * Request content that waits for a decision, or until the request may occupy an origin connection; null for none.
     */
    private @Nullable HeldContent held;

    private boolean requestEnded;

    /** @param contentLength bytes of the request's content, 0 when it has none, -1 when unknown */
    ExchangeFetch(
            ExchangeLoop exchangeLoop,
            ClientStream stream,
            ExchangeState state,
            FetchPlans plans,
            FetchFollower exchange,
            long contentLength) {
        this.exchangeLoop = exchangeLoop;
        this.stream = stream;
        this.state = state;
        this.plans = plans;
        this.exchange = exchange;
        this.contentLength = contentLength;
    }

    /**
     * Begins a fetch, or joins the fetch in flight for the same key.
     *
     * @param whenLeading phase of the exchange if it begins the fetch
     */
    void startOrJoin(FetchPlan plan, Decision decision, ExchangePhase whenLeading) {
        SharedFetch newFetch = new SharedFetch(exchangeLoop, plan);
        if (plan.collapseKey() != null) {
            SharedFetch other = findOrRegister(plan.collapseKey(), newFetch);
            if (other != null) {
                plan.releaseStoredObject();
                if (!other.isPart() && plans.isRangeFarAhead()) {
                    // The fetch in flight would first deliver all bytes before the requested range.
                    state.enter(whenLeading);
                    start(plans.pass(decision));
                } else {
                    follow(other, decision);
                }
                return;
            }
        }
        state.enter(whenLeading);
        begin(newFetch);
    }

    /**
     * Returns the fetch in flight for the key, or registers {@code newFetch} and returns null. Replaces a fetch that an
     * invalidation has outdated.
     */
    private @Nullable SharedFetch findOrRegister(StoreKey key, SharedFetch newFetch) {
        SharedFetch other = exchangeLoop.collapser().registerIfAbsent(key, newFetch);
        while (other != null && other.isOutdated()) {
            exchangeLoop.collapser().remove(key, other);
            other = exchangeLoop.collapser().registerIfAbsent(key, newFetch);
        }
        return other;
    }

    /** Holds request content that arrives before a fetch is begun, and stops reading more of it. */
    void holdContent() {
        if (isContentDue() && held == null) {
            held = new HeldContent(stream.alloc(), exchangeLoop.heldContent(), 0);
            stream.readContent(false);
        }
    }

    /**
     * Begins a fetch with the request content that was held. Reading from the client resumes when the origin accepts
     * more.
     */
    private void startEarly(FetchPlan plan, HeldContent early) {
        startHeld(plan, early);
        OriginCall call = fetch == null ? null : fetch.call();
        if (requestEnded && call != null && !state.isTerminal()) {
            call.finishRequest();
        }
    }

    /** Begins a fetch to which this exchange sends its request content. */
    void start(FetchPlan plan) {
        HeldContent early = held;
        if (early != null) {
            startEarly(plan, early);
            return;
        }
        int bytesMax = plan.mapped().rule().config().requestBufferBytes();
        if (contentLength == 0 || requestEnded) {
            begin(new SharedFetch(exchangeLoop, plan));
        } else if (bytesMax == 0 || isSentImmediately(plan.request().fields())) {
            begin(new SharedFetch(exchangeLoop, plan));
            stream.readContent(false);
        } else {
            heldPlan = plan;
            held = new HeldContent(stream.alloc(), exchangeLoop.heldContent(), bytesMax);
        }
    }

    /**
     * Returns true if the client may wait for the origin before it sends more content: for 100 (Continue), or for
     * messages of a gRPC call.
     */
    private static boolean isSentImmediately(FieldSection fields) {
        int type = fields.find(FieldName.CONTENT_TYPE);
        if (type >= 0) {
            int from = fields.valueStart(type);
            int to = from + GRPC.length();
            if (to <= fields.valueEnd(type) && FieldLexer.equalsIgnoreCase(fields.bytes(), from, to, GRPC)) {
                return true;
            }
        }
        return fields.hasToken(FieldName.EXPECT, "100-continue");
    }

    /**
     * Starts the held request, because enough or all of its content has arrived. Only now does the request occupy an
     * origin connection.
     */
    private void startHeld(FetchPlan plan, HeldContent content) {
        heldPlan = null;
        held = null;
        try {
            SharedFetch newFetch = new SharedFetch(exchangeLoop, plan);
            begin(newFetch);
            if (!requestEnded) {
                stream.readContent(false);
            }
            ByteBuf bytes = content.take();
            OriginCall call = newFetch.call();
            if (bytes != null && call != null && fetch == newFetch) {
                call.write(bytes);
            } else if (bytes != null) {
                bytes.release();
            }
        } catch (RuntimeException | Error e) {
            content.drop();
            exchange.onFault(e);
        }
    }

    private void dropHeld() {
        FetchPlan plan = heldPlan;
        HeldContent content = held;
        heldPlan = null;
        held = null;
        if (plan != null) {
            plan.releaseStoredObject();
        }
        if (content != null) {
            content.drop();
        }
    }

    private void begin(SharedFetch newFetch) {
        fetch = newFetch;
        newFetch.start(exchange);
    }

    private void follow(SharedFetch other, Decision decision) {
        state.enter(ExchangePhase.COLLAPSED);
        exchangeLoop.counters().increment(Counter.LOOKUPS_FILLING);
        exchangeLoop.store().countMiss(decision.key());
        fetch = other;
        long waitNanos = decision.mapped().rule().config().cache().collapseWaitNanos();
        followTimer.start(stream.eventLoop(), waitNanos, () -> onCollapseTimeout(decision));
        other.join(exchange);
    }

    private void onCollapseTimeout(Decision decision) {
        if (state.phase() == ExchangePhase.COLLAPSED && fetch != null) {
            exchangeLoop.counters().increment(Counter.COLLAPSED_TIMEOUT);
            fetch.leave(exchange);
            try {
                fetchAlone(decision);
            } catch (RuntimeException | Error e) {
                exchange.onFault(e);
            }
        }
    }

    /** Begins a fetch for this exchange only. */
    void fetchAlone(Decision decision) {
        followTimer.cancel();
        state.enter(ExchangePhase.FETCHING);
        begin(new SharedFetch(exchangeLoop, plans.miss(decision, false)));
    }

    /** Returns true if a callback is from the current fetch of this exchange. */
    boolean isCurrentFetch(SharedFetch from) {
        return from == fetch;
    }

    /** Called when the fetch has delivered its response: stops the follow timer. */
    void answered() {
        followTimer.cancel();
    }

    /** Drops the reference to the fetch, because the exchange no longer needs it. */
    void forget() {
        followTimer.cancel();
        fetch = null;
        dropHeld();
    }

    /**
     * Leaves the fetch. While its response is being sent, cancels the call to the origin if the request's content is
     * incomplete.
     *
     * @param answering whether its response is being sent to the client; the reader of the response is closed
     *     separately
     */
    void cancel(boolean answering) {
        SharedFetch current = fetch;
        fetch = null;
        dropHeld();
        if (current != null && !answering) {
            current.leave(exchange);
        } else if (current != null && isContentDue() && current.call() != null) {
            current.call().cancel();
        }
    }

    // Request content

    /** Returns true if request content is still to arrive. */
    boolean isContentDue() {
        return contentLength != 0 && !requestEnded;
    }

    /** Receives a piece of content from the client. Takes ownership. */
    void content(ByteBuf content) {
        FetchPlan plan = heldPlan;
        HeldContent before = held;
        if (plan != null && before != null) {
            if (!before.add(content)) {
                startHeld(plan, before);
            }
            return;
        }
        OriginCall call = fetch == null ? null : fetch.call();
        if (before != null && call == null && !state.isTerminal()) {
            before.add(content);
            return;
        }
        if (call == null || state.isTerminal()) {
            content.release();
            return;
        }
        call.write(content);
        if (!call.isRequestWritable()) {
            stream.readContent(false);
        }
    }

    /** Returns how urgently other requests need the origin connection of the current response. */
    SlowClients.OriginDemand demand() {
        return fetch == null ? SlowClients.OriginDemand.NONE : fetch.demand(exchangeLoop);
    }

    /** Called when the origin accepts more request content. */
    void onWritable() {
        if (!state.isTerminal() && contentLength != 0) {
            stream.readContent(true);
        }
    }

    /** Called when the client has sent the complete request. */
    void onRequestEnd() {
        requestEnded = true;
        FetchPlan plan = heldPlan;
        HeldContent before = held;
        if (plan != null && before != null) {
            startHeld(plan, before);
        }
        OriginCall call = fetch == null ? null : fetch.call();
        if (contentLength != 0 && call != null && !state.isTerminal()) {
            call.finishRequest();
        }
    }
}
