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
 * What an exchange has to do with its origin: the fetch that it leads or waits for, how long it waits for another's, and the
 * request's content on its way there.
 *
 * <p>Confined to the exchange's event loop.
 */
final class OriginSide {
    /** How the media types of gRPC begin. */
    private static final String GRPC = "application/grpc";

    private final ExchangeLoop home;
    private final ClientStream stream;
    private final ExchangeState state;
    private final FetchPlans plans;
    private final FetchFollower exchange;
    private final long contentLength;
    private final FollowTimer followTimer = new FollowTimer();

    private @Nullable SharedFetch fetch;
    /** What is fetched once there is enough of {@link #held}; null for nothing. */
    private @Nullable FetchPlan heldPlan;

    private @Nullable HeldContent held;
    private boolean requestEnded;

    /** @param contentLength bytes of the request's content, 0 when it has none, -1 when unknown */
    OriginSide(
            ExchangeLoop home,
            ClientStream stream,
            ExchangeState state,
            FetchPlans plans,
            FetchFollower exchange,
            long contentLength) {
        this.home = home;
        this.stream = stream;
        this.state = state;
        this.plans = plans;
        this.exchange = exchange;
        this.contentLength = contentLength;
    }

    /** Begins a fetch, or joins the one that fetches the same key already. */
    void lead(FetchPlan plan, Decision decision, ExchangePhase whenLeading) {
        SharedFetch mine = new SharedFetch(home, plan);
        if (plan.collapseKey() != null) {
            SharedFetch other = current(plan.collapseKey(), mine);
            if (other != null) {
                plan.release();
                if (!other.isPart() && plans.isRangeFarAhead()) {
                    state.enter(whenLeading);
                    start(plans.pass(decision));
                } else {
                    follow(other, decision);
                }
                return;
            }
        }
        state.enter(whenLeading);
        begin(mine);
    }

    /** The fetch that fetches the key already; one that an invalidation has outdated meanwhile makes room for this. */
    private @Nullable SharedFetch current(StoreKey key, SharedFetch mine) {
        SharedFetch other = home.collapser().lead(key, mine);
        while (other != null && other.isOutdated()) {
            home.collapser().remove(key, other);
            other = home.collapser().lead(key, mine);
        }
        return other;
    }

    /** Begins a fetch of which this exchange sends the request's content. */
    void start(FetchPlan plan) {
        int bytesMax = plan.mapped().rule().config().requestBufferBytes();
        if (contentLength == 0 || requestEnded) {
            begin(new SharedFetch(home, plan));
        } else if (bytesMax == 0 || isSentAtOnce(plan.request().fields())) {
            begin(new SharedFetch(home, plan));
            stream.readContent(false);
        } else {
            heldPlan = plan;
            held = new HeldContent(stream.alloc(), home.heldContent(), bytesMax);
        }
    }

    /** Whether the client waits for something of the origin before it sends more: 100, or messages of a gRPC call. */
    private static boolean isSentAtOnce(FieldSection fields) {
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

    /** There is enough of the content, or all of it: now the request takes a connection. */
    private void startHeld(FetchPlan plan, HeldContent content) {
        heldPlan = null;
        held = null;
        try {
            SharedFetch mine = new SharedFetch(home, plan);
            begin(mine);
            if (!requestEnded) {
                stream.readContent(false);
            }
            ByteBuf bytes = content.take();
            OriginCall call = mine.call();
            if (bytes != null && call != null && fetch == mine) {
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
            plan.release();
        }
        if (content != null) {
            content.drop();
        }
    }

    private void begin(SharedFetch mine) {
        fetch = mine;
        mine.start(exchange);
    }

    private void follow(SharedFetch other, Decision decision) {
        state.enter(ExchangePhase.COLLAPSED);
        home.counters().increment(Counter.LOOKUPS_FILLING);
        fetch = other;
        long waitNanos = decision.mapped().rule().config().cache().collapseWaitNanos();
        followTimer.start(stream.eventLoop(), waitNanos, () -> onCollapseTimeout(decision));
        other.join(exchange);
    }

    private void onCollapseTimeout(Decision decision) {
        if (state.phase() == ExchangePhase.COLLAPSED && fetch != null) {
            home.counters().increment(Counter.COLLAPSED_TIMEOUT);
            fetch.leave(exchange);
            try {
                fetchAlone(decision);
            } catch (RuntimeException | Error e) {
                exchange.onFault(e);
            }
        }
    }

    /** Fetches for this exchange only. */
    void fetchAlone(Decision decision) {
        followTimer.cancel();
        state.enter(ExchangePhase.FETCHING);
        begin(new SharedFetch(home, plans.miss(decision, false)));
    }

    /** Whether what a fetch says is from the one that this exchange is at now. */
    boolean isAt(SharedFetch from) {
        return from == fetch;
    }

    /** The fetch has said what it had to say: no more waiting. */
    void answered() {
        followTimer.cancel();
    }

    /** The fetch is not needed any more, nor does it need anything. */
    void forget() {
        followTimer.cancel();
        fetch = null;
        dropHeld();
    }

    /**
     * Leaves the fetch.
     *
     * @param answering whether its response is on its way to the client, by a reader that is closed by itself
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

    // the request's content

    /** Whether content of the request is still to come. */
    boolean isContentDue() {
        return contentLength != 0 && !requestEnded;
    }

    /** A piece from the client; takes ownership. */
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
        if (call == null || state.isTerminal()) {
            content.release();
            return;
        }
        call.write(content);
        if (!call.isRequestWritable()) {
            stream.readContent(false);
        }
    }

    /** How much others want the origin connection that the response holds. */
    SlowClients.OriginDemand demand() {
        return fetch == null ? SlowClients.OriginDemand.NONE : fetch.demand(home);
    }

    /** The origin takes more. */
    void onWritable() {
        if (!state.isTerminal() && contentLength != 0) {
            stream.readContent(true);
        }
    }

    /** The client has sent all. */
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
