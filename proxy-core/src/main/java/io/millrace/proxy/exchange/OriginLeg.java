package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.Storability;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Validation;
import io.millrace.proxy.caching.WaiterReuse;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.ResponseFraming;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.observe.Counter;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
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
    /**
     * An exchange that waits for this leg. Called on {@link #waiterLoop}; across loops a call may arrive after the waiter has
     * left and turned to another leg, therefore each says which one it comes from.
     */
    interface Waiter {
        EventExecutor waiterLoop();

        RequestHead request();

        ContentSink sink();

        /** The origin wants the request's content. The one that began the leg only. */
        void onContinue();

        /** An interim response. The one that began the leg only. */
        void onInterim(ResponseHead head);

        /** The origin takes more of the request's content. The one that began the leg only. */
        void onOriginWritable();

        /** The response answers the waiter's request; it owns the reader and closes it. */
        void onFetched(OriginLeg from, FetchedResponse response, ResponseTee.Reader reader, boolean collapsed);

        /** The origin confirmed the stored response; the waiter owns the object's reference. */
        void onConfirmed(OriginLeg from, StoredObject<StoredHead> object, StoredHead refreshed, boolean collapsed);

        /** The response is not for this waiter, or came to its end before the waiter joined: look again, or fetch alone. */
        void onNotShared(OriginLeg from, NotShared reason);

        /** The origin gave no response. */
        void onLegFailure(OriginLeg from, OriginFailure failure);

        /** One of these calls threw. */
        void onFault(Throwable fault);
    }

    /** Why a waiter gets nothing of a leg. */
    enum NotShared {
        /** The response may not answer the waiter's request. */
        REFUSED,
        /** The leg had ended; what it brought may be in the store. */
        ENDED
    }

    private static final Logger log = LoggerFactory.getLogger(OriginLeg.class);

    private enum State {
        WAITING,
        STREAMING,
        ENDED
    }

    private final ExchangeLoop home;
    private final LegPlan plan;
    private final List<Waiter> waiters = new ArrayList<>(1);

    private State state = State.WAITING;
    private @Nullable Waiter leader;
    private @Nullable StoreKey joinedUnder;
    private @Nullable OriginCall call;
    private @Nullable ResponseTee tee;
    private @Nullable FetchedResponse fetched;
    private long requestMillis;
    private long requestNanos;
    private boolean storing;
    private @Nullable Queue<Runnable> held;
    private boolean discarding;
    private boolean fetchAgain;
    private boolean offering;
    private long purgeStamp;

    OriginLeg(ExchangeLoop home, LegPlan plan) {
        this.home = home;
        this.plan = plan;
        this.joinedUnder = plan.collapseKey();
    }

    /** Sends the request. The first waiter is the exchange that began the leg. */
    void start(Waiter first) {
        leader = first;
        waiters.add(first);
        purgeStamp = plan.mayStore() ? home.purger().stamp(plan.request().target()) : 0;
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
    void join(Waiter waiter) {
        if (home.loop().inEventLoop()) {
            joinHere(waiter);
        } else {
            home.loop().execute(() -> joinHere(waiter));
        }
    }

    private void joinHere(Waiter waiter) {
        switch (state) {
            case WAITING -> waiters.add(waiter);
            case STREAMING -> {
                if (tee != null && tee.canRead(0)) {
                    offer(waiter, true);
                } else {
                    tell(waiter, () -> waiter.onNotShared(this, NotShared.REFUSED));
                }
            }
            case ENDED -> tell(waiter, () -> waiter.onNotShared(this, NotShared.ENDED));
        }
    }

    /** A waiter gives up before the head; any loop. */
    void leave(Waiter waiter) {
        if (home.loop().inEventLoop()) {
            leaveHere(waiter);
        } else {
            home.loop().execute(() -> leaveHere(waiter));
        }
    }

    private void leaveHere(Waiter waiter) {
        if (leader == waiter) {
            leader = null;
        }
        if (waiters.remove(waiter) && waiters.isEmpty() && state == State.WAITING) {
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
        Waiter first = leader;
        if (first != null) {
            tell(first, () -> first.onContinue());
        }
    }

    @Override
    public void onInterim(ResponseHead head) {
        Waiter first = leader;
        if (first != null) {
            tell(first, () -> first.onInterim(head));
        }
    }

    @Override
    public void onRequestWritable() {
        Waiter first = leader;
        if (first != null) {
            tell(first, () -> first.onOriginWritable());
        }
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
        held = null;
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
            hold();
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

    /** What the origin says next waits until the invalidation is durable: at most one receive buffer, as reading stops. */
    private void hold() {
        held = new ArrayDeque<>();
        if (call != null) {
            call.pauseReading();
        }
    }

    private void goOn(ResponseHead head, ResponseFraming framing) {
        deliver(head, framing);
        Queue<Runnable> events = held;
        held = null;
        while (events != null && !events.isEmpty()) {
            events.remove().run();
        }
        if (call != null && state != State.ENDED) {
            call.resumeReading();
        }
    }

    private void validated(StoredObject<StoredHead> stale, ResponseHead head) {
        discarding = true;
        Validation.Outcome outcome = Validation.freshen(
                plan.request(), stale.head(), head, requestMillis, home.clock().millis(), plan.cacheSettings());
        if (outcome instanceof Validation.Freshened freshened) {
            home.store().update(stale, freshened.head());
            confirm(stale, freshened.head(), head);
        } else if (outcome instanceof Validation.Unstorable unstorable) {
            if (unstorable.isRemoved()) {
                home.store().remove(stale.key(), home.loop(), (wasPresent, failure) -> {});
            }
            confirm(stale, unstorable.head(), head);
        } else {
            // The 304 speaks of another representation (RFC 9111 s4.3.4): once it is read, ask without conditions.
            fetchAgain = true;
        }
    }

    /** Tells everybody who waits; a cookie in the 304 is for the one whose request was sent. */
    private void confirm(StoredObject<StoredHead> stale, StoredHead refreshed, ResponseHead notModified) {
        boolean shared = !notModified.fields().contains(FieldName.SET_COOKIE);
        List<Waiter> waiting = List.copyOf(waiters);
        waiters.clear();
        for (Waiter waiter : waiting) {
            boolean collapsed = waiter != leader;
            if (collapsed && !shared) {
                tell(waiter, () -> waiter.onNotShared(this, NotShared.REFUSED));
                continue;
            }
            StoredObject<StoredHead> object = stale.retain();
            tell(waiter, () -> waiter.onConfirmed(this, object, refreshed, collapsed));
        }
        end();
    }

    private void deliver(ResponseHead head, ResponseFraming framing) {
        if (state != State.WAITING) {
            return;
        }
        state = State.STREAMING;
        long nowMillis = home.clock().millis();
        StoredHead stored = plan.mayStore() ? storable(head, framing, nowMillis) : null;
        ObjectWriter<StoredHead> writer = stored == null ? null : openStore(stored, framing);
        if (writer == null) {
            stored = null;
            endJoining();
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
            Waiter next = waiters.remove(0);
            offer(next, next != leader);
        }
        offering = false;
        if (!body.hasReaders()) {
            onNoReaders();
        }
    }

    private boolean isPurged() {
        if (home.purger().stamp(plan.request().target()) == purgeStamp) {
            return false;
        }
        home.counters().increment(Counter.FILLS_INVALIDATED);
        return true;
    }

    private @Nullable StoredHead storable(ResponseHead head, ResponseFraming framing, long nowMillis) {
        if (isPurged()) {
            return null;
        }
        if (Storability.of(plan.request(), head, nowMillis, plan.cacheSettings()) instanceof Storability.NotStorable) {
            home.counters().increment(Counter.FILLS_NOT_STORABLE);
            return null;
        }
        StoredHead stored = StoredHead.of(plan.request(), head, requestMillis, nowMillis, plan.cacheSettings());
        return framing.contentLength() < 0 ? stored : stored.withContentLength(framing.contentLength());
    }

    /**
     * Opens the way to the store, under the variant's key where the response varies; from here it is joined under that key.
     *
     * @return null when the URL was purged meanwhile
     */
    private @Nullable ObjectWriter<StoredHead> openStore(StoredHead stored, ResponseFraming framing) {
        StoreKey key = home.variants().keyFor(plan, stored);
        ObjectWriter<StoredHead> writer =
                home.store().create(key, home.variants().volumeFor(plan));
        // A purge on another thread raises its stamp first and removes then: either its stamp is seen here, or it finds
        // the
        // writer, or the marker that leads to it.
        if (isPurged()) {
            writer.abort();
            return null;
        }
        writer.head(stored, framing.contentLength());
        if (joinedUnder != null && !joinedUnder.equals(key)) {
            endJoining();
            if (home.collapser().lead(key, this) == null) {
                joinedUnder = key;
            }
        }
        return writer;
    }

    /** Gives a waiter its reader, or sends it away when the response is not for its request. */
    private void offer(Waiter waiter, boolean collapsed) {
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
            tell(waiter, () -> waiter.onNotShared(this, NotShared.REFUSED));
            return;
        }
        ResponseTee.Reader reader = body.read(waiter.waiterLoop(), waiter.sink());
        tell(waiter, () -> waiter.onFetched(this, response, reader, collapsed));
    }

    private void tell(Waiter waiter, Runnable event) {
        if (waiter.waiterLoop() == home.loop()) {
            run(waiter, event);
        } else {
            waiter.waiterLoop().execute(() -> run(waiter, event));
        }
    }

    /** A waiter's fault ends that waiter's exchange, not what the others get. */
    private static void run(Waiter waiter, Runnable event) {
        try {
            event.run();
        } catch (RuntimeException | Error e) {
            waiter.onFault(e);
        }
    }

    @Override
    public void onContent(ByteBuf content) {
        if (held != null) {
            held.add(() -> onContent(content));
        } else if (tee == null || discarding) {
            content.release();
        } else {
            tee.content(content);
        }
    }

    @Override
    public void onComplete(@Nullable FieldSection trailers) {
        if (held != null) {
            held.add(() -> onComplete(trailers));
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
        if (held != null) {
            held.add(() -> onFailure(failure));
            return;
        }
        home.counters().increment(FailureCounters.of(failure.reason()));
        if (tee != null) {
            if (storing) {
                home.counters().increment(Counter.FILLS_ORIGIN_FAILED);
            }
            tee.fail(ContentFailure.ORIGIN_TRUNCATED);
        }
        List<Waiter> waiting = List.copyOf(waiters);
        waiters.clear();
        end();
        for (Waiter waiter : waiting) {
            tell(waiter, () -> waiter.onLegFailure(this, failure));
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

    private void endJoining() {
        if (joinedUnder != null) {
            home.collapser().remove(joinedUnder, this);
            joinedUnder = null;
        }
    }

    private void end() {
        if (state == State.ENDED) {
            return;
        }
        state = State.ENDED;
        endJoining();
        plan.release();
    }
}
