package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.FollowerReuse;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.RangeRequest;
import io.millrace.proxy.exchange.forward.DeferredOriginEvents;
import io.millrace.proxy.exchange.forward.FetchedResponse;
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
 * client: the one that began it is its first follower and may leave like any other. When the head is there each follower learns
 * whether the response may answer <em>its</em> request, and reads the body at its own pace through the {@link ResponseTee};
 * what may be stored goes to the store on the same way.
 *
 * <p>Confined to the event loop of the exchange that began it; followers of other loops are called on theirs by {@code execute}.
 */
final class SharedFetch implements OriginResponseHandler, FetchBody.Fetch {
    private static final Logger log = LoggerFactory.getLogger(SharedFetch.class);

    private enum State {
        WAITING,
        STREAMING,
        ENDED
    }

    private final ExchangeLoop home;
    private final FetchPlan plan;
    private final boolean part;
    private final FetchFollowers followers;
    private final FetchStoring storage;
    private final DeferredOriginEvents held = new DeferredOriginEvents();
    private final FetchBody content;

    private State state = State.WAITING;
    private @Nullable OriginCall call;
    /** Early Hints that came last, for those that join behind them. */
    private @Nullable ResponseHead hints;

    private long requestMillis;
    private long requestNanos;
    private volatile int originVersion;
    private boolean fetchAgain;
    private volatile Labels labels = Labels.NONE;

    SharedFetch(ExchangeLoop home, FetchPlan plan) {
        this.home = home;
        this.plan = plan;
        this.part = plan.range() != null;
        this.followers = new FetchFollowers(home.loop());
        this.storage = new FetchStoring(home, plan, this);
        this.content = new FetchBody(home, plan, this);
    }

    /** Sends the request. The first follower is the exchange that began the fetch. */
    void start(FetchFollower first) {
        followers.lead(first);
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
    void join(FetchFollower follower) {
        if (home.loop().inEventLoop()) {
            joinHere(follower);
        } else {
            home.loop().execute(() -> joinHere(follower));
        }
    }

    private void joinHere(FetchFollower follower) {
        switch (state) {
            case WAITING -> {
                followers.add(follower);
                ResponseHead links = hints;
                if (links != null) {
                    followers.tell(follower, w -> w.onInterim(links));
                }
            }
            case STREAMING -> {
                learnLabels();
                if (isOutdated()) {
                    followers.tell(follower, w -> w.onNotShared(this, FetchFollower.NotShared.ENDED));
                } else if (isFresh(follower) && content.canJoin()) {
                    offer(follower, true);
                } else {
                    followers.tell(follower, w -> w.onNotShared(this, FetchFollower.NotShared.REFUSED));
                }
            }
            case ENDED -> followers.tell(follower, w -> w.onNotShared(this, FetchFollower.NotShared.ENDED));
        }
    }

    /** Whether a response that came some time ago may still answer without validation. */
    private boolean isFresh(FetchFollower follower) {
        FetchedResponse response = content.response();
        StoredHead head = response == null ? null : response.selectable();
        return head != null
                && Reuse.of(follower.request(), head, home.clock().millis(), plan.cacheSettings())
                        instanceof Reuse.Fresh;
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

    /** A follower gives up before the head; any loop. */
    void leave(FetchFollower follower) {
        if (home.loop().inEventLoop()) {
            leaveHere(follower);
        } else {
            home.loop().execute(() -> leaveHere(follower));
        }
    }

    private void leaveHere(FetchFollower follower) {
        if (followers.removeLast(follower) && state == State.WAITING) {
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
        followers.tellLeader(FetchFollower::onContinue);
    }

    @Override
    public void onInterim(ResponseHead head) {
        followers.tellLeader(first -> first.onInterim(head));
        ResponseHead links = ResponseHeads.hints(head);
        if (links != null) {
            hints = links;
            followers.tellFollowers(follower -> follower.onInterim(links));
        }
    }

    @Override
    public void onSwitched(ResponseHead head, SwitchedConnection connection) {
        home.counters().originResponded(System.nanoTime() - requestNanos);
        List<FetchFollower> waiting = followers.takeAll();
        end();
        if (waiting.isEmpty()) {
            connection.close();
        } else {
            followers.tell(waiting.get(0), w -> w.onSwitched(this, head, connection));
        }
    }

    @Override
    public void onRequestWritable() {
        followers.tellLeader(FetchFollower::onOriginWritable);
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

    /** A fault of ours with this response ends the fetch, and everybody who waits is told. */
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
                && !RangeRequest.coversFirstByte(plan.request(), head.fields())) {
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
        FetchStoring.Confirmation confirmation = storage.freshen(stale, head, requestMillis);
        if (confirmation != null) {
            confirm(stale, confirmation, head);
        } else {
            // About another representation: once it is read, ask without conditions.
            fetchAgain = true;
        }
    }

    /** Tells everybody who waits: the one whose request was sent gets all of it, the others what may be shared. */
    private void confirm(
            StoredObject<StoredHead> stale, FetchStoring.Confirmation confirmation, ResponseHead notModified) {
        StoredHead shared = confirmation.shared();
        for (FetchFollower follower : followers.takeAll()) {
            if (followers.isLeader(follower)) {
                confirm(follower, stale, confirmation.answer(), false);
            } else if (home.invalidations().of(plan.keyUrl(), confirmation.answer()) != null) {
                followers.tell(follower, w -> w.onNotShared(this, FetchFollower.NotShared.ENDED));
            } else if (shared == null || !isFor(follower, shared, notModified)) {
                followers.tell(follower, w -> w.onNotShared(this, FetchFollower.NotShared.REFUSED));
            } else {
                confirm(follower, stale, shared, true);
            }
        }
        end();
    }

    private void confirm(FetchFollower follower, StoredObject<StoredHead> stale, StoredHead head, boolean collapsed) {
        StoredObject<StoredHead> object = stale.retain();
        followers.tell(follower, w -> w.onConfirmed(this, object, head, collapsed));
    }

    /**
     * Whether a response that was validated for another client answers a follower: not with the cookie that the other one got, and not
     * where each use is to be validated for itself (RFC 9111 s4).
     */
    private boolean isFor(FetchFollower follower, StoredHead shared, ResponseHead notModified) {
        boolean cookie = notModified.fields().contains(FieldName.SET_COOKIE)
                && shared.fields().contains(FieldName.SET_COOKIE);
        Reuse reuse = Reuse.of(follower.request(), shared, home.clock().millis(), plan.cacheSettings());
        return !cookie && !(reuse instanceof Reuse.Validate) && !(reuse instanceof Reuse.NotUsable);
    }

    /** The rest of a stored part came; where it does not fit, the whole is asked for. */
    private void continued(StoredObject<StoredHead> firstPart, ResponseHead head, ResponseFraming framing) {
        if (state != State.WAITING) {
            return;
        }
        FetchStoring.Reception reception = head.status() == 206
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
    private void receive(FetchStoring.Reception reception) {
        state = State.STREAMING;
        content.open(reception);
        if (reception.response().stored() || followers.hasFollowers()) {
            learnLabels();
        }
        while (!followers.isEmpty()) {
            FetchFollower next = followers.next();
            offer(next, !followers.isLeader(next));
        }
        content.endOffering();
    }

    /** Learns which purges of groups and tags outdate the response, where it is stored or shared. */
    private void learnLabels() {
        FetchedResponse response = content.response();
        StoredHead head = response == null ? null : response.selectable();
        labels = head == null ? Labels.NONE : head.labels();
    }

    /** Gives a follower its reader, or sends it away when the response is not for its request. */
    private void offer(FetchFollower follower, boolean collapsed) {
        FetchedResponse response = content.response();
        if (response == null) {
            throw new IllegalStateException("no head yet");
        }
        if (collapsed && isOutdated()) {
            followers.tell(follower, w -> w.onNotShared(this, FetchFollower.NotShared.ENDED));
            return;
        }
        if (collapsed && !isFor(follower, response)) {
            followers.tell(follower, w -> w.onNotShared(this, FetchFollower.NotShared.REFUSED));
            return;
        }
        StoredObject<StoredHead> object = content.readBlocks();
        if (object != null) {
            followers.tell(follower, w -> w.onBlocks(this, response, object, collapsed));
        } else {
            ResponseTee.Reader reader = content.read(follower.followerLoop(), follower.sink());
            followers.tell(follower, w -> w.onFetched(this, response, reader, collapsed));
        }
    }

    private boolean isFor(FetchFollower follower, FetchedResponse response) {
        boolean shared = FollowerReuse.of(
                        follower.request(),
                        plan.request(),
                        response.representation(),
                        response.responseMillis(),
                        plan.cacheSettings())
                instanceof FollowerReuse.Shared;
        ContentRange range = response.part();
        if (!shared || range == null || content.isInBlocks()) {
            return shared;
        }
        return response.selectable() != null
                && Selection.ofPart(follower.request(), response.selectable(), range) != null;
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
        List<FetchFollower> waiting = followers.takeAll();
        end();
        for (FetchFollower follower : waiting) {
            followers.tell(follower, w -> w.onFetchFailure(this, failure));
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
     * @param asker the loop of the exchange that asks: others than this fetch's do not see its call
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
