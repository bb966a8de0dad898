package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.reuse.WaiterReuse;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.exchange.decide.LegPlan;
import io.millrace.proxy.exchange.decide.RangeRequest;
import io.millrace.proxy.exchange.forward.FetchedResponse;
import io.millrace.proxy.exchange.forward.HeldEvents;
import io.millrace.proxy.exchange.forward.ResponseHeads;
import io.millrace.proxy.exchange.report.FailureCounters;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.forward.TrailerFields;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.overload.OverloadGauge;
import io.millrace.proxy.serve.Selection;
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
final class OriginLeg implements OriginResponseHandler, LegContent.Leg {
    private static final Logger log = LoggerFactory.getLogger(OriginLeg.class);

    private enum State {
        WAITING,
        STREAMING,
        ENDED
    }

    private final ExchangeLoop home;
    private final LegPlan plan;
    private final boolean part;
    private final LegWaiters waiters;
    private final LegStorage storage;
    private final HeldEvents held = new HeldEvents();
    private final LegContent content;

    private State state = State.WAITING;
    private @Nullable OriginCall call;
    /** Early Hints that came last, for those that join behind them. */
    private @Nullable ResponseHead hints;

    private long requestMillis;
    private long requestNanos;
    private volatile int originVersion;
    private boolean fetchAgain;
    private volatile Labels labels = Labels.NONE;

    OriginLeg(ExchangeLoop home, LegPlan plan) {
        this.home = home;
        this.plan = plan;
        this.part = plan.range() != null;
        this.waiters = new LegWaiters(home.loop());
        this.storage = new LegStorage(home, plan, this);
        this.content = new LegContent(home, plan, this);
    }

    /** Sends the request. The first waiter is the exchange that began the leg. */
    void start(LegWaiter first) {
        waiters.lead(first);
        storage.begin();
        send();
    }

    /** Sends the request, where there is memory for its response. */
    private void send() {
        if (home.memory().admitsFetch()) {
            sendNow();
        } else if (plan.contentLength() == 0) {
            // What closes slow clients for it runs before.
            home.loop().execute(() -> {
                if (state == State.ENDED) {
                    return;
                }
                if (home.memory().admitsFetch()) {
                    sendNow();
                } else {
                    refuse();
                }
            });
        } else {
            home.loop().execute(() -> {
                if (state != State.ENDED) {
                    refuse();
                }
            });
        }
    }

    private void refuse() {
        onFailure(new OriginFailure(
                OriginFailure.Reason.MEMORY, "limits.memory_in_flight is used up; the origin was not asked", true));
    }

    private void sendNow() {
        requestMillis = home.clock().millis();
        requestNanos = System.nanoTime();
        home.counters()
                .increment(plan.stale() == null ? Counter.ORIGIN_REQUESTS_FETCH : Counter.ORIGIN_REQUESTS_VALIDATION);
        call = OriginTries.fetch(home, plan, this);
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
            case WAITING -> {
                waiters.add(waiter);
                ResponseHead links = hints;
                if (links != null) {
                    waiters.tell(waiter, w -> w.onInterim(links));
                }
            }
            case STREAMING -> {
                learnLabels();
                if (isOutdated()) {
                    waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.ENDED));
                } else if (isFresh(waiter) && content.canJoin()) {
                    offer(waiter, true);
                } else {
                    waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.REFUSED));
                }
            }
            case ENDED -> waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.ENDED));
        }
    }

    /** Whether a response that came some time ago may still answer without validation. */
    private boolean isFresh(LegWaiter waiter) {
        FetchedResponse response = content.response();
        StoredHead head = response == null ? null : response.selectable();
        return head != null
                && Reuse.of(waiter.request(), head, home.clock().millis(), plan.cacheSettings()) instanceof Reuse.Fresh;
    }

    /**
     * Whether an invalidation that began after it has outdated what it brings: then nobody joins it; any loop. Groups and
     * tags are known once it has the head.
     */
    boolean isOutdated() {
        return outdated() != null;
    }

    @Override
    public boolean isGone() {
        Outdated by = outdated();
        return by != null && !by.isSoft();
    }

    private @Nullable Outdated outdated() {
        return home.invalidations().of(plan.keyUrl(), plan.stamp(), labels);
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
            OverloadGauge gauge = gauge();
            if (gauge != null && call != null) {
                gauge.givenUp(System.nanoTime() - requestNanos);
            }
            end();
            cancelCall();
        }
    }

    /** Whether it asks for a part only; any loop. */
    boolean isPart() {
        return part;
    }

    /** The origin's side, for an exchange that sends content; its own loop only. */
    @Nullable
    OriginCall call() {
        return call;
    }

    /** Which host of a group was asked last; null when the rule has no group. Any loop, once it was told of an answer. */
    @Nullable
    String host() {
        return call instanceof OriginTries tries ? tries.host() : null;
    }

    /** The version of the origin's response head. Any loop, once it was told of an answer. */
    int originVersion() {
        return originVersion;
    }

    // what the origin says

    @Override
    public void onContinue() {
        waiters.tellLeader(LegWaiter::onContinue);
    }

    @Override
    public void onInterim(ResponseHead head) {
        waiters.tellLeader(first -> first.onInterim(head));
        ResponseHead links = ResponseHeads.hints(head);
        if (links != null) {
            hints = links;
            waiters.tellFollowers(follower -> follower.onInterim(links));
        }
    }

    @Override
    public void onSwitched(ResponseHead head, SwitchedConnection connection) {
        home.counters().originResponded(System.nanoTime() - requestNanos);
        List<LegWaiter> waiting = waiters.takeAll();
        end();
        if (waiting.isEmpty()) {
            connection.close();
        } else {
            waiters.tell(waiting.get(0), w -> w.onSwitched(this, head, connection));
        }
    }

    @Override
    public void onRequestWritable() {
        waiters.tellLeader(LegWaiter::onOriginWritable);
    }

    @Override
    public void onHead(ResponseHead head, ResponseFraming framing) {
        originVersion = head.version();
        try {
            respond(home.settings().server().applyTo(head), framing);
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

    /** Counts how long the origin took, for whether its rule is in overload. */
    private void noteAnswer(boolean failed) {
        OverloadGauge gauge = gauge();
        if (gauge != null) {
            gauge.answered(System.nanoTime() - requestNanos, failed);
        }
    }

    private @Nullable OverloadGauge gauge() {
        return home.overload().of(plan.mapped().rule().config());
    }

    private void respond(ResponseHead head, ResponseFraming framing) {
        home.counters().originResponded(System.nanoTime() - requestNanos);
        noteAnswer(head.status() >= 500);
        StoredObject<StoredHead> stale = plan.stale();
        if (stale != null && head.status() == 304) {
            validated(stale, head);
            return;
        }
        StoredObject<StoredHead> firstPart = plan.firstPart();
        if (firstPart != null && (head.status() == 206 || head.status() == 416)) {
            continued(firstPart, head, framing);
            return;
        }
        if (plan.range() != null
                && head.status() == 206
                && state == State.WAITING
                && !RangeRequest.isReachedBy(plan.request(), head.fields())) {
            fetchWhole();
            return;
        }
        StoredObject<StoredHead> known = plan.comparedToHead();
        if (known != null) {
            storage.compare(known, head, requestMillis);
        }
        if (!plan.request().method().isSafe() && head.status() < 400) {
            held.hold(call);
            boolean current = storage.isCurrent();
            ResponseHead told = home.toClient(head, plan.request().target(), plan.mapped());
            home.invalidate(plan.request(), told, () -> {
                try {
                    goOn(head, framing);
                } catch (RuntimeException e) {
                    fault(e);
                }
            });
            if (current) {
                // What the request itself has purged is no reason against storing its answer.
                storage.begin();
            }
        } else {
            deliver(head, framing);
        }
    }

    private void goOn(ResponseHead head, ResponseFraming framing) {
        deliver(head, framing);
        goOn();
    }

    /** Carries on with what was held. */
    private void goOn() {
        held.release();
        if (call != null && state != State.ENDED && content.isFlowing()) {
            call.resumeReading();
        }
    }

    private void validated(StoredObject<StoredHead> stale, ResponseHead head) {
        LegStorage.Confirmation confirmation = storage.freshen(stale, head, requestMillis);
        if (confirmation != null) {
            confirm(stale, confirmation, head);
        } else {
            // About another representation: once it is read, ask without conditions.
            fetchAgain = true;
        }
    }

    /** Tells everybody who waits: the one whose request was sent gets all of it, the others what may be shared. */
    private void confirm(
            StoredObject<StoredHead> stale, LegStorage.Confirmation confirmation, ResponseHead notModified) {
        StoredHead shared = confirmation.shared();
        for (LegWaiter waiter : waiters.takeAll()) {
            if (waiters.isLeader(waiter)) {
                confirm(waiter, stale, confirmation.answer(), false);
            } else if (home.invalidations().of(plan.keyUrl(), confirmation.answer()) != null) {
                waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.ENDED));
            } else if (shared == null || !isFor(waiter, shared, notModified)) {
                waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.REFUSED));
            } else {
                confirm(waiter, stale, shared, true);
            }
        }
        end();
    }

    private void confirm(LegWaiter waiter, StoredObject<StoredHead> stale, StoredHead head, boolean collapsed) {
        StoredObject<StoredHead> object = stale.retain();
        waiters.tell(waiter, w -> w.onConfirmed(this, object, head, collapsed));
    }

    /**
     * Whether a response that was validated for another client answers a waiter: not with the cookie that the other one got, and not
     * where each use is to be validated for itself (RFC 9111 s4).
     */
    private boolean isFor(LegWaiter waiter, StoredHead shared, ResponseHead notModified) {
        boolean cookie = notModified.fields().contains(FieldName.SET_COOKIE)
                && shared.fields().contains(FieldName.SET_COOKIE);
        Reuse reuse = Reuse.of(waiter.request(), shared, home.clock().millis(), plan.cacheSettings());
        return !cookie && !(reuse instanceof Reuse.Validate) && !(reuse instanceof Reuse.NotUsable);
    }

    /** The rest of a stored part came; where it does not fit, the whole is asked for. */
    private void continued(StoredObject<StoredHead> firstPart, ResponseHead head, ResponseFraming framing) {
        if (state != State.WAITING) {
            return;
        }
        LegStorage.Reception reception = head.status() == 206
                ? storage.combine(
                        firstPart, head, framing, requestMillis, home.clock().millis())
                : null;
        if (reception == null) {
            fetchWhole();
            return;
        }
        held.hold(call);
        receive(reception);
        if (state == State.STREAMING) {
            content.prepend(firstPart.retain());
        }
    }

    /** Instead of what came, which is of no use. */
    private void fetchWhole() {
        cancelCall();
        plan.release();
        send();
    }

    @Override
    public void onPrefixEnd() {
        goOn();
    }

    @Override
    public void onUseless() {
        end();
        cancelCall();
    }

    private void deliver(ResponseHead head, ResponseFraming framing) {
        if (state == State.WAITING) {
            receive(storage.receive(head, framing, requestMillis, home.clock().millis()));
        }
    }

    /** Opens the way for the content, and gives it to everybody who waits and may have it. */
    private void receive(LegStorage.Reception reception) {
        state = State.STREAMING;
        content.open(reception);
        if (reception.response().stored() || waiters.hasFollowers()) {
            learnLabels();
        }
        while (!waiters.isEmpty()) {
            LegWaiter next = waiters.next();
            offer(next, !waiters.isLeader(next));
        }
        content.endOffering();
    }

    /** Learns which purges of groups and tags outdate the response, where it is stored or shared. */
    private void learnLabels() {
        FetchedResponse response = content.response();
        StoredHead head = response == null ? null : response.selectable();
        labels = head == null ? Labels.NONE : head.labels();
    }

    /** Gives a waiter its reader, or sends it away when the response is not for its request. */
    private void offer(LegWaiter waiter, boolean collapsed) {
        FetchedResponse response = content.response();
        if (response == null) {
            throw new IllegalStateException("no head yet");
        }
        if (collapsed && isOutdated()) {
            waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.ENDED));
            return;
        }
        if (collapsed && !isFor(waiter, response)) {
            waiters.tell(waiter, w -> w.onNotShared(this, LegWaiter.NotShared.REFUSED));
            return;
        }
        StoredObject<StoredHead> object = content.readBlocks();
        if (object != null) {
            waiters.tell(waiter, w -> w.onBlocks(this, response, object, collapsed));
        } else {
            ResponseTee.Reader reader = content.read(waiter.waiterLoop(), waiter.sink());
            waiters.tell(waiter, w -> w.onFetched(this, response, reader, collapsed));
        }
    }

    private boolean isFor(LegWaiter waiter, FetchedResponse response) {
        boolean shared = WaiterReuse.of(
                        waiter.request(),
                        plan.request(),
                        response.representation(),
                        response.responseMillis(),
                        plan.cacheSettings())
                instanceof WaiterReuse.Shared;
        ContentRange range = response.part();
        if (!shared || range == null || content.isInBlocks()) {
            return shared;
        }
        return response.selectable() != null
                && Selection.ofPart(waiter.request(), response.selectable(), range) != null;
    }

    @Override
    public void onContent(ByteBuf piece) {
        if (held.isHolding()) {
            held.keep(piece, () -> onContent(piece));
        } else {
            content.content(piece);
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
            plan.release();
            send();
            return;
        }
        content.complete(TrailerFields.forwardable(trailers));
        end();
    }

    @Override
    public void onFailure(OriginFailure failure) {
        if (held.isHolding()) {
            held.keep(() -> onFailure(failure));
            return;
        }
        home.counters().increment(FailureCounters.of(failure.reason()));
        if (failure.beforeHead() && failure.reason().isOrigins()) {
            noteAnswer(true);
        }
        content.fail();
        List<LegWaiter> waiting = waiters.takeAll();
        end();
        for (LegWaiter waiter : waiting) {
            waiters.tell(waiter, w -> w.onLegFailure(this, failure));
        }
    }

    // what the content's way says

    @Override
    public void onFlow(boolean open) {
        if (call == null || held.isHolding()) {
            return;
        }
        if (open) {
            call.resumeReading();
        } else {
            call.pauseReading();
        }
    }

    /** One that read the blocks has left; any loop. */
    void leaveBlocks() {
        if (home.loop().inEventLoop()) {
            content.leaveBlocks();
        } else {
            home.loop().execute(content::leaveBlocks);
        }
    }

    /**
     * How much others want the origin connection while the response waits for its readers.
     *
     * @param asker the loop of the exchange that asks: others than this leg's do not see its call
     */
    SlowClients.OriginDemand demand(ExchangeLoop asker) {
        return asker.loop() != home.loop() || call == null || content.isFlowing()
                ? SlowClients.OriginDemand.NONE
                : call.demand();
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
        held.drop();
        content.end();
        storage.endJoining();
        plan.release();
    }
}
