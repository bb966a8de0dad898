package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.encoding.EncodedHeads;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.RangeRequest;
import io.millrace.proxy.exchange.forward.DeferredOriginEvents;
import io.millrace.proxy.exchange.forward.EncodedResponse;
import io.millrace.proxy.exchange.forward.FetchValidity;
import io.millrace.proxy.exchange.forward.FetchedResponse;
import io.millrace.proxy.exchange.forward.FollowerMatch;
import io.millrace.proxy.exchange.forward.ResponseHeads;
import io.millrace.proxy.exchange.forward.TransformedResponse;
import io.millrace.proxy.extension.FetchHooks;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.forward.TrailerFields;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.observe.trace.ClientSpan;
import io.millrace.proxy.observe.trace.ExchangeTrace;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request to an origin and its response, shared by the exchanges that wait for one key. Each of these exchanges is
 * a {@link FetchFollower}. The exchange that began the fetch is the first follower, and may leave like any other. When
 * the response head arrives, the fetch decides for each follower whether the response may answer <em>its</em> request.
 * Each follower reads the body at its own pace through the {@link ResponseTee}, which also writes a storable response
 * to the store. {@link FetchRequest} sends the request.
 *
 * <p>Confined to the event loop of the exchange that began it. Followers on other loops are called on their own loop
 * through {@code execute}.
 */
final class SharedFetch implements OriginResponseHandler, FetchBody.Fetch {
    private static final Logger log = LoggerFactory.getLogger(SharedFetch.class);

    private enum State {
        WAITING,
        STREAMING,
        ENDED
    }

    private final ExchangeLoop exchangeLoop;
    private final FetchPlan plan;
    private final boolean part;
    private final FetchRequest request;
    private final FetchFollowers followers;
    private final FetchStoring storage;
    private final DeferredOriginEvents deferredEvents = new DeferredOriginEvents();
    private final FetchBody content;
    private final FetchValidity validity;

    private State state = State.WAITING;
    /** The latest Early Hints (103), passed to followers that join later. */
    private @Nullable ResponseHead hints;

    private volatile int originVersion;
    /** True if the request is sent again once the current response is read. */
    private boolean fetchAgain;

    SharedFetch(ExchangeLoop exchangeLoop, FetchPlan plan) {
        this.exchangeLoop = exchangeLoop;
        this.plan = plan;
        this.part = plan.range() != null;
        this.request = new FetchRequest(exchangeLoop, plan, this);
        this.followers = new FetchFollowers(exchangeLoop.loop());
        this.storage = new FetchStoring(exchangeLoop, plan, this);
        this.content = new FetchBody(exchangeLoop, plan, this);
        this.validity = new FetchValidity(exchangeLoop.invalidations(), plan);
    }

    /** Sends the request. The first follower is the exchange that began the fetch. */
    void start(FetchFollower first) {
        followers.addLeader(first);
        storage.begin();
        request.prepare();
    }

    /** Adds a follower. Callable from any thread. */
    void join(FetchFollower follower) {
        if (exchangeLoop.loop().inEventLoop()) {
            joinOnLoop(follower);
        } else {
            exchangeLoop.loop().execute(() -> joinOnLoop(follower));
        }
    }

    private void joinOnLoop(FetchFollower follower) {
        ExchangeTrace trace = plan.trace();
        if (trace != null && follower.isSampled()) {
            // The follower's span refers to the span of this fetch, which must be exported too.
            trace.export();
        }
        switch (state) {
            case WAITING -> {
                followers.add(follower);
                ResponseHead links = hints;
                if (links != null) {
                    followers.notifyFollower(follower, f -> f.onInterim(links));
                }
            }
            case STREAMING -> {
                validity.readLabels(content.response());
                if (isOutdated()) {
                    followers.notifyFollower(follower, f -> f.onNotShared(this, FetchFollower.NotShared.ENDED));
                } else if (content.canJoin()
                        && FollowerMatch.isFresh(
                                plan,
                                follower.request(),
                                content.response(),
                                exchangeLoop.clock().millis())) {
                    offer(follower, true);
                } else {
                    followers.notifyFollower(follower, f -> f.onNotShared(this, FetchFollower.NotShared.REFUSED));
                }
            }
            case ENDED -> followers.notifyFollower(follower, f -> f.onNotShared(this, FetchFollower.NotShared.ENDED));
        }
    }

    /**
     * Returns true if an invalidation that began after this fetch outdates its response. If so, no follower may join.
     * Cache groups and tags are considered once the response head is known. Callable from any thread.
     */
    boolean isOutdated() {
        return validity.isOutdated();
    }

    @Override
    public boolean isHardInvalidated() {
        return validity.isHardInvalidated();
    }

    @Override
    public boolean isUnstorable() {
        FetchHooks hooks = plan.hooks();
        return hooks != null && hooks.isUnstorable();
    }

    /** Removes a follower that leaves before the response head. Callable from any thread. */
    void leave(FetchFollower follower) {
        if (exchangeLoop.loop().inEventLoop()) {
            leaveOnLoop(follower);
        } else {
            exchangeLoop.loop().execute(() -> leaveOnLoop(follower));
        }
    }

    private void leaveOnLoop(FetchFollower follower) {
        if (followers.remove(follower) && state == State.WAITING) {
            request.cancelled();
            end();
            request.cancel();
        }
    }

    /** Returns true if the fetch requests only a range. Callable from any thread. */
    boolean isPart() {
        return part;
    }

    /** Returns the call to the origin, for an exchange that sends request content. Call only on this fetch's loop. */
    @Nullable
    OriginCall call() {
        return request.call();
    }

    /**
     * Returns the host of the origin group to which the last request was sent; null when the rule has no group.
     * Callable from any thread after a follower callback.
     */
    @Nullable
    String host() {
        return request.host();
    }

    /**
     * Returns the span of the last request to an origin; null if it is not traced. Callable from any thread after a
     * follower callback.
     */
    @Nullable
    ClientSpan span() {
        return plan.span();
    }

    /** Returns the HTTP version of the origin's response head. Callable from any thread after a follower callback. */
    int originVersion() {
        return originVersion;
    }

    // Callbacks of the origin call

    @Override
    public void onContinue() {
        followers.notifyLeader(FetchFollower::onContinue);
    }

    @Override
    public void onInterim(ResponseHead head) {
        followers.notifyLeader(first -> first.onInterim(head));
        ResponseHead links = ResponseHeads.hints(head);
        if (links != null) {
            hints = links;
            followers.notifyJoined(follower -> follower.onInterim(links));
        }
    }

    @Override
    public void onSwitched(ResponseHead head, SwitchedConnection connection) {
        request.headArrived(head);
        List<FetchFollower> waiting = followers.takeAll();
        end();
        if (waiting.isEmpty()) {
            connection.close();
        } else {
            followers.notifyFollower(waiting.get(0), f -> f.onSwitched(this, head, connection));
        }
    }

    @Override
    public void onRequestWritable() {
        followers.notifyLeader(FetchFollower::onOriginWritable);
    }

    @Override
    public void onHead(ResponseHead head, ResponseFraming receivedFraming) {
        originVersion = head.version();
        try {
            // The head of a stored variant already contains the changes of the rules.
            boolean stored = plan.isFromVariant();
            ResponseHead received = stored
                    ? head
                    : plan.headAfterRules(exchangeLoop.settings().server().applyTo(head));
            if (!stored) {
                request.headArrived(head);
                request.answered(received.status() >= 500);
            }
            EncodedResponse encoded = request.encoding();
            FetchHooks hooks = plan.hooks();
            storage.setUnstorable(!stored && hooks != null && hooks.isUnstorable());
            TransformedResponse transforming = stored ? null : request.transformed();
            ResponseFraming framing = receivedFraming;
            if (transforming != null) {
                received = transforming.received(received);
                framing = transforming.framing(receivedFraming);
            }
            if (encoded == null) {
                respond(received, framing);
            } else {
                ResponseHead answer = encoded.received(received, framing);
                if (encoded.lacksVariantCoding()) {
                    storage.setUnstorable(true);
                }
                respond(answer, encoded.framing(framing));
            }
        } catch (FetchHooks.ClosedResponseException e) {
            request.cancel();
            onFailure(new OriginFailure(OriginFailure.Reason.EXTENSION, String.valueOf(e.getMessage()), true));
        } catch (RuntimeException e) {
            fault(e);
        }
    }

    /**
     * Ends the fetch after an internal error in the handling of its response head. All waiting followers get the
     * failure.
     */
    private void fault(RuntimeException cause) {
        log.error(
                "the fetch from {} was aborted after an internal error",
                plan.mapped().originHost(),
                cause);
        deferredEvents.drop();
        request.cancel();
        onFailure(new OriginFailure(
                OriginFailure.Reason.INTERNAL, "internal error while processing the response's head", true));
    }

    private void respond(ResponseHead head, ResponseFraming framing) {
        StoredObject<StoredHead> stale = plan.stale();
        if (stale != null && head.status() == 304) {
            onNotModified(stale, head);
            return;
        }
        StoredObject<StoredHead> firstPart = plan.firstPart();
        if (firstPart != null && (head.status() == 206 || head.status() == 416)) {
            onRemainder(firstPart, head, framing);
            return;
        }
        if (plan.range() != null
                && head.status() == 206
                && state == State.WAITING
                && !RangeRequest.coversFirstByte(plan.request(), head.fields())) {
            fetchWhole();
            return;
        }
        if (mayMismatchClientPart(head)) {
            fetchWhole();
            return;
        }
        StoredObject<StoredHead> known = plan.storedForHeadMethod();
        if (known != null) {
            storage.compare(known, head, request.sentMillis());
        }
        if (!plan.request().method().isSafe() && head.status() < 400) {
            deferredEvents.hold(request.call());
            boolean current = storage.isCurrent();
            ResponseHead forClient = exchangeLoop.toClient(head, plan.request().target(), plan.mapped());
            exchangeLoop.invalidate(plan.request(), forClient, () -> {
                try {
                    resumeDelivery(head, framing);
                } catch (RuntimeException e) {
                    fault(e);
                }
            });
            if (current) {
                // The invalidation that this request caused must not prevent the storing of its response.
                storage.begin();
            }
        } else {
            deliver(head, framing);
        }
    }

    /**
     * Returns true if the origin sent a part of the unencoded content, and the request has If-Range with a date. The
     * part that the client already has may be from the encoded content, which has the same date. The client must not
     * combine the two parts.
     */
    private boolean mayMismatchClientPart(ResponseHead head) {
        EncodingRules rules = plan.cacheSettings().encoding();
        return !rules.isOff()
                && head.status() == 206
                && (plan.range() != null || isRangePassed())
                && state == State.WAITING
                && RangeRequest.isDated(plan.request().fields())
                && EncodedHeads.mightEncodeWholeOfPart(head.fields(), rules)
                && rules.choose(plan.request().fields()) != null;
    }

    /**
     * Returns true if the client's Range field was sent to the origin, and the request can be sent again without it.
     */
    private boolean isRangePassed() {
        return plan.isPass()
                && !plan.asksForWhole()
                && plan.request().method() == Method.GET
                && plan.contentLength() == 0;
    }

    private void resumeDelivery(ResponseHead head, ResponseFraming framing) {
        deliver(head, framing);
        resumeDelivery();
    }

    /** Delivers the deferred events and resumes reading. */
    private void resumeDelivery() {
        deferredEvents.release();
        if (state != State.ENDED && content.isFlowing()) {
            request.flow(true);
        }
    }

    private void onNotModified(StoredObject<StoredHead> stale, ResponseHead head) {
        FetchStoring.Confirmation confirmation = storage.freshen(stale, head, request.sentMillis());
        if (confirmation != null) {
            confirm(stale, confirmation, head);
        } else {
            storage.removeOtherCodings(head.fields());
            // The 304 is about another representation. After the 304 is read, the request is sent again without
            // conditions.
            fetchAgain = true;
        }
    }

    /**
     * Reports the validated response to all waiting followers. The first follower, whose request was sent, gets the
     * complete head; the others get only the fields that may be shared.
     */
    private void confirm(
            StoredObject<StoredHead> stale, FetchStoring.Confirmation confirmation, ResponseHead notModified) {
        StoredHead shared = confirmation.shared();
        for (FetchFollower follower : followers.takeAll()) {
            if (followers.isLeader(follower)) {
                confirm(follower, stale, confirmation.answer(), false);
            } else if (exchangeLoop.invalidations().of(plan.keyUrl(), confirmation.answer(), stale.length()) != null) {
                followers.notifyFollower(follower, f -> f.onNotShared(this, FetchFollower.NotShared.ENDED));
            } else if (shared == null
                    || !FollowerMatch.fitsValidated(
                            plan,
                            follower.request(),
                            shared,
                            notModified,
                            exchangeLoop.clock().millis())) {
                followers.notifyFollower(follower, f -> f.onNotShared(this, FetchFollower.NotShared.REFUSED));
            } else {
                confirm(follower, stale, shared, true);
            }
        }
        end();
    }

    private void confirm(FetchFollower follower, StoredObject<StoredHead> stale, StoredHead head, boolean collapsed) {
        StoredObject<StoredHead> object = stale.retain();
        followers.notifyFollower(follower, f -> f.onConfirmed(this, object, head, collapsed));
    }

    /**
     * Handles the response to a request for the bytes after a stored first part. If the received part does not fit the
     * stored part, fetches the whole content.
     */
    private void onRemainder(StoredObject<StoredHead> firstPart, ResponseHead head, ResponseFraming framing) {
        if (state != State.WAITING) {
            return;
        }
        FetchStoring.Reception reception = head.status() == 206
                ? storage.combine(
                        firstPart,
                        head,
                        framing,
                        request.sentMillis(),
                        exchangeLoop.clock().millis())
                : null;
        if (reception == null) {
            fetchWhole();
            return;
        }
        deferredEvents.hold(request.call());
        receive(reception);
        if (state == State.STREAMING) {
            content.prepend(firstPart.retain());
        }
    }

    /** Cancels the current call, whose response is unusable, and requests the whole content. */
    private void fetchWhole() {
        request.cancel();
        plan.resetToFullFetch();
        request.send();
    }

    @Override
    public void onPrefixEnd() {
        resumeDelivery();
    }

    @Override
    public void onUnneeded() {
        end();
        request.cancel();
    }

    private void deliver(ResponseHead head, ResponseFraming framing) {
        if (state == State.WAITING) {
            receive(storage.receive(
                    head, framing, request.sentMillis(), exchangeLoop.clock().millis()));
        }
    }

    /** Opens the body and offers the response to all waiting followers. */
    private void receive(FetchStoring.Reception reception) {
        state = State.STREAMING;
        content.open(reception);
        if (reception.response().stored() || followers.hasFollowers()) {
            validity.readLabels(content.response());
        }
        while (!followers.isEmpty()) {
            FetchFollower next = followers.next();
            offer(next, !followers.isLeader(next));
        }
        content.endOffering();
    }

    /** Gives a follower a reader of the body, or rejects the follower if the response does not answer its request. */
    private void offer(FetchFollower follower, boolean collapsed) {
        FetchedResponse response = content.response();
        if (response == null) {
            throw new IllegalStateException("no head yet");
        }
        if (collapsed && isOutdated()) {
            followers.notifyFollower(follower, f -> f.onNotShared(this, FetchFollower.NotShared.ENDED));
            return;
        }
        EncodedResponse encoded = request.encoding();
        boolean isAccepted = encoded == null || encoded.isAcceptedBy(follower.request());
        if (collapsed
                && !(isAccepted && FollowerMatch.fits(plan, follower.request(), response, content.isInBlocks()))) {
            followers.notifyFollower(follower, f -> f.onNotShared(this, FetchFollower.NotShared.REFUSED));
            return;
        }
        StoredObject<StoredHead> object = content.readBlocks();
        if (object != null) {
            followers.notifyFollower(follower, f -> f.onBlocks(this, response, object, collapsed));
        } else {
            ResponseTee.Reader reader = content.read(follower.followerLoop(), follower.sink());
            followers.notifyFollower(follower, f -> f.onFetched(this, response, reader, collapsed));
        }
    }

    @Override
    public void onContent(ByteBuf piece) {
        if (deferredEvents.isHolding()) {
            deferredEvents.keep(piece, () -> onContent(piece));
        } else {
            content.content(piece);
        }
    }

    @Override
    public void onComplete(@Nullable FieldSection trailers) {
        if (deferredEvents.isHolding()) {
            deferredEvents.keep(() -> onComplete(trailers));
            return;
        }
        if (fetchAgain) {
            fetchAgain = false;
            plan.resetToFullFetch();
            request.send();
            return;
        }
        content.complete(TrailerFields.forwardable(trailers));
        storage.completed();
        end();
    }

    @Override
    public void onFailure(OriginFailure failure) {
        if (deferredEvents.isHolding()) {
            deferredEvents.keep(() -> onFailure(failure));
            return;
        }
        request.failed(failure);
        content.fail();
        List<FetchFollower> waiting = followers.takeAll();
        end();
        for (FetchFollower follower : waiting) {
            followers.notifyFollower(follower, f -> f.onFetchFailure(this, failure));
        }
    }

    // Callbacks of the fetched body

    @Override
    public void setReading(boolean open) {
        if (!deferredEvents.isHolding()) {
            request.flow(open);
        }
    }

    /** Called when a follower stops reading the blocks. Callable from any thread. */
    void leaveBlocks() {
        if (exchangeLoop.loop().inEventLoop()) {
            content.leaveBlocks();
        } else {
            exchangeLoop.loop().execute(content::leaveBlocks);
        }
    }

    /**
     * Returns how urgently other requests need the origin connection, if this response waits for its readers.
     *
     * @param caller the loop of the calling exchange; the result is {@code NONE} if this is not the fetch's loop
     */
    SlowClients.OriginDemand demand(ExchangeLoop caller) {
        return caller.loop() != exchangeLoop.loop() || content.isFlowing()
                ? SlowClients.OriginDemand.NONE
                : request.demand();
    }

    /** Returns true once the fetch has ended. */
    boolean hasEnded() {
        return state == State.ENDED;
    }

    private void end() {
        if (state == State.ENDED) {
            return;
        }
        state = State.ENDED;
        if (plan.hooks() != null) {
            plan.hooks().forget();
        }
        deferredEvents.drop();
        content.end();
        storage.endJoining();
        plan.releaseStoredObject();
    }
}
