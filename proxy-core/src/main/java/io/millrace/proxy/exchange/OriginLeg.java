package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.WaiterReuse;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.ResponseFraming;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.observe.Counter;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request to an origin and its response, on behalf of one exchange or of many that wait for the same key. It belongs to no
 * client: the one that began it is its first waiter and may leave like any other. When the head is there each waiter learns
 * whether the response may answer <em>its</em> request, and reads the body at its own pace through the {@link ResponseTee};
 * what may be stored goes to the store on the same way.
 *
 * <p>Confined to the event loop of the exchange that began it; waiters of other loops are called on theirs by {@code execute}.
 */
final class OriginLeg implements OriginResponseHandler, ResponseTee.Feed {
    private static final Logger log = LoggerFactory.getLogger(OriginLeg.class);

    private enum State {
        WAITING,
        STREAMING,
        ENDED
    }

    private final ExchangeLoop home;
    private final LegPlan plan;
    private final LegWaiters waiters;
    private final LegStorage storage;
    private final HeldEvents held = new HeldEvents();

    private State state = State.WAITING;
    private @Nullable OriginCall call;
    private @Nullable ResponseTee tee;
    private @Nullable FetchedResponse fetched;
    private long requestMillis;
    private long requestNanos;
    private boolean storing;
    private boolean discarding;
    private boolean fetchAgain;
    private boolean offering;

    OriginLeg(ExchangeLoop home, LegPlan plan) {
        this.home = home;
        this.plan = plan;
        this.waiters = new LegWaiters(home.loop());
        this.storage = new LegStorage(home, plan, this);
    }

    /** Sends the request. The first waiter is the exchange that began the leg. */
    void start(LegWaiter first) {
        waiters.lead(first);
        storage.begin();
        send();
    }

    private void send() {
        requestMillis = home.clock().millis();
        requestNanos = System.nanoTime();
        OriginRequest request = OriginRequests.compose(plan, home.settings());
        home.counters()
                .increment(plan.stale() == null ? Counter.ORIGIN_REQUESTS_FETCH : Counter.ORIGIN_REQUESTS_VALIDATION);
        call = home.origins().fetch(request, this);
    }

    /** Joins from any loop. */
    void join(LegWaiter waiter) {
        if (home.loop().inEventLoop()) {
            joinHere(waiter);
        } else {
            home.loop().execute(() -> joinHere(waiter));
        }
    }

    private void joinHere(LegWaiter waiter) {
        switch (state) {
            case WAITING -> waiters.add(waiter);
            case STREAMING -> {
                if (tee != null && tee.canRead(0)) {
                    offer(waiter, true);
                } else {
                    waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.REFUSED));
                }
            }
            case ENDED -> waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.ENDED));
        }
    }

    /** A waiter gives up before the head; any loop. */
    void leave(LegWaiter waiter) {
        if (home.loop().inEventLoop()) {
            leaveHere(waiter);
        } else {
            home.loop().execute(() -> leaveHere(waiter));
        }
    }

    private void leaveHere(LegWaiter waiter) {
        if (waiters.removeLast(waiter) && state == State.WAITING) {
            end();
            cancelCall();
        }
    }

    /** The origin's side, for an exchange that sends content; its own loop only. */
    @Nullable
    OriginCall call() {
        return call;
    }

    // what the origin says

    @Override
    public void onContinue() {
        waiters.tellLeader(LegWaiter::onContinue);
    }

    @Override
    public void onInterim(ResponseHead head) {
        waiters.tellLeader(first -> first.onInterim(head));
    }

    @Override
    public void onRequestWritable() {
        waiters.tellLeader(LegWaiter::onOriginWritable);
    }

    @Override
    public void onHead(ResponseHead head, ResponseFraming framing) {
        try {
            respond(head, framing);
        } catch (RuntimeException e) {
            fault(e);
        }
    }

    /** A fault of ours with this response ends the leg, and everybody who waits is told. */
    private void fault(RuntimeException cause) {
        log.error("fetch for {} given up after a fault", plan.mapped().originHost(), cause);
        held.drop();
        cancelCall();
        onFailure(new OriginFailure(OriginFailure.Reason.INTERNAL, "a fault with the response's head", true));
    }

    private void respond(ResponseHead head, ResponseFraming framing) {
        home.counters().originResponded(System.nanoTime() - requestNanos);
        StoredObject<StoredHead> stale = plan.stale();
        if (stale != null && head.status() == 304) {
            validated(stale, head);
            return;
        }
        if (!plan.request().method().isSafe() && head.status() < 400) {
            held.hold(call);
            home.invalidate(plan.request(), head, () -> {
                try {
                    goOn(head, framing);
                } catch (RuntimeException e) {
                    fault(e);
                }
            });
        } else {
            deliver(head, framing);
        }
    }

    private void goOn(ResponseHead head, ResponseFraming framing) {
        deliver(head, framing);
        held.release();
        if (call != null && state != State.ENDED) {
            call.resumeReading();
        }
    }

    private void validated(StoredObject<StoredHead> stale, ResponseHead head) {
        discarding = true;
        StoredHead refreshed = storage.freshen(stale, head, requestMillis);
        if (refreshed != null) {
            confirm(stale, refreshed, head);
        } else {
            // About another representation: once it is read, ask without conditions.
            fetchAgain = true;
        }
    }

    /** Tells everybody who waits; a cookie in the 304 is for the one whose request was sent. */
    private void confirm(StoredObject<StoredHead> stale, StoredHead refreshed, ResponseHead notModified) {
        boolean shared = !notModified.fields().contains(FieldName.SET_COOKIE);
        for (LegWaiter waiter : waiters.takeAll()) {
            boolean collapsed = !waiters.isLeader(waiter);
            if (collapsed && !shared) {
                waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.REFUSED));
                continue;
            }
            StoredObject<StoredHead> object = stale.retain();
            waiters.tell(waiter, w -> w.onConfirmed(this, object, refreshed, collapsed));
        }
        end();
    }

    private void deliver(ResponseHead head, ResponseFraming framing) {
        if (state != State.WAITING) {
            return;
        }
        state = State.STREAMING;
        long nowMillis = home.clock().millis();
        StoredHead stored = storage.storable(head, framing, requestMillis, nowMillis);
        ObjectWriter<StoredHead> writer = stored == null ? null : storage.open(stored, framing);
        if (writer == null) {
            stored = null;
            storage.endJoining();
        }
        ResponseTee body = new ResponseTee(home.loop(), home.settings().fillWindowBytes(), writer != null, this);
        tee = body;
        if (writer != null) {
            body.storeTo(writer, framing.contentLength());
            storing = true;
        }
        fetched = new FetchedResponse(head, stored, framing.contentLength(), requestMillis, nowMillis);
        offering = true;
        while (!waiters.isEmpty()) {
            LegWaiter next = waiters.next();
            offer(next, !waiters.isLeader(next));
        }
        offering = false;
        if (!body.hasReaders()) {
            onNoReaders();
        }
    }

    /** Gives a waiter its reader, or sends it away when the response is not for its request. */
    private void offer(LegWaiter waiter, boolean collapsed) {
        FetchedResponse response = fetched;
        ResponseTee body = tee;
        if (response == null || body == null) {
            throw new IllegalStateException("no head yet");
        }
        if (collapsed
                && !(WaiterReuse.of(
                                waiter.request(),
                                plan.request(),
                                response.head(),
                                response.responseMillis(),
                                plan.cacheSettings())
                        instanceof WaiterReuse.Shared)) {
            waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.REFUSED));
            return;
        }
        ResponseTee.Reader reader = body.read(waiter.waiterLoop(), waiter.sink());
        waiters.tell(waiter, w -> w.onFetched(this, response, reader, collapsed));
    }

    @Override
    public void onContent(ByteBuf content) {
        if (held.isHolding()) {
            held.keep(() -> onContent(content));
            return;
        }
        if (tee == null || discarding) {
            content.release();
        } else {
            tee.content(content);
        }
    }

    @Override
    public void onComplete(@Nullable FieldSection trailers) {
        if (held.isHolding()) {
            held.keep(() -> onComplete(trailers));
            return;
        }
        if (fetchAgain) {
            fetchAgain = false;
            discarding = false;
            plan.release();
            send();
            return;
        }
        if (tee != null) {
            boolean stored = tee.isStoring();
            tee.end();
            if (storing) {
                home.counters().increment(stored ? Counter.FILLS_STORED : Counter.FILLS_STORE_FAILED);
            }
        }
        end();
    }

    @Override
    public void onFailure(OriginFailure failure) {
        if (held.isHolding()) {
            held.keep(() -> onFailure(failure));
            return;
        }
        home.counters().increment(FailureCounters.of(failure.reason()));
        if (tee != null) {
            if (storing) {
                home.counters().increment(Counter.FILLS_ORIGIN_FAILED);
            }
            tee.fail(ContentFailure.ORIGIN_TRUNCATED);
        }
        List<LegWaiter> waiting = waiters.takeAll();
        end();
        for (LegWaiter waiter : waiting) {
            waiters.tell(waiter, w -> w.onLegFailure(this, failure));
        }
    }

    // what the tee says

    @Override
    public void onFlow(boolean open) {
        if (call == null) {
            return;
        }
        if (open) {
            call.resumeReading();
        } else {
            call.pauseReading();
        }
    }

    @Override
    public void onNoReaders() {
        if (!offering && state == State.STREAMING && (tee == null || !tee.isStoring())) {
            if (tee != null) {
                tee.fail(ContentFailure.ORIGIN_TRUNCATED);
            }
            end();
            cancelCall();
        }
    }

    private void cancelCall() {
        if (call != null) {
            call.cancel();
        }
    }

    private void end() {
        if (state == State.ENDED) {
            return;
        }
        state = State.ENDED;
        storage.endJoining();
        plan.release();
    }
}
