package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.StaleServing;
import io.millrace.proxy.caching.validate.Validation;
import io.millrace.proxy.clients.ClientCounts.Kind;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.DecisionWaits;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.ForwardDecider;
import io.millrace.proxy.exchange.decide.LocalAnswer;
import io.millrace.proxy.exchange.decide.RequestDecider;
import io.millrace.proxy.exchange.decide.StaleCopy;
import io.millrace.proxy.exchange.decide.StoredParts;
import io.millrace.proxy.exchange.forward.BodySender;
import io.millrace.proxy.exchange.forward.FetchedResponse;
import io.millrace.proxy.exchange.forward.OriginRequests;
import io.millrace.proxy.exchange.forward.ResponseHeads;
import io.millrace.proxy.exchange.report.ExchangeOutcome;
import io.millrace.proxy.exchange.report.ExchangePhase;
import io.millrace.proxy.exchange.report.ExchangeState;
import io.millrace.proxy.exchange.report.FailureAnswer;
import io.millrace.proxy.exchange.report.FailureCounters;
import io.millrace.proxy.extension.RequestHooks;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.field.ForwardReason;
import io.millrace.proxy.tunnel.Tunnel;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state machine of one request. This class calls every step of the request path. The steps call back only through
 * the interfaces that this class implements. {@link ExchangePhase} lists the transitions.
 *
 * <p>Confined to the client stream's event loop.
 */
final class Exchange
        implements RequestHandler, FetchFollower, BodySender.End, PartialAnswer.Caller, TunnelAnswer.Caller {
    /**
     * Limit of store lookups. A request repeats the lookup when the shared fetch that it tried to join has already
     * ended. Beyond the limit, the request is fetched without sharing.
     */
    private static final int LOOKUPS_MAX = 3;

    /** Cache-Status detail of stale responses that are served because the origin is marked down. */
    private static final String ORIGIN_DOWN = "origin-down";

    /** Cache-Status detail of stale responses that are served because the origin or this proxy is overloaded. */
    private static final String OVERLOAD = "overload";

    /** Detail of requests that took longer than {@code timeouts.transaction}. */
    private static final String TRANSACTION_TIMEOUT = "transaction-timeout";

    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    private final ExchangeLoop exchangeLoop;
    private final ClientStream stream;
    private final RequestHead request;
    private final long contentLength;
    private final ExchangeReport report;
    private final FetchPlans plans;
    private final BodySender sender;
    private final ClientAnswer answer;
    private final ExchangeFetch origin;
    private final ExchangeState state = new ExchangeState();
    private final StaleCopy stale = new StaleCopy();
    private final ClientPermit permit;
    /** Created at the first use, because few responses are sent from blocks. */
    private @Nullable PartialAnswer partial;
    /** Created at the protocol switch. */
    private @Nullable TunnelAnswer tunnel;

    private @Nullable Decision decision;
    /** Number of store lookups of this request so far. */
    private int lookups;
    /** The timer for the limit of the request's total time; null without a limit. */
    private @Nullable Future<?> transactionTimer;

    private boolean isTimerSet;

    Exchange(ExchangeLoop exchangeLoop, ClientStream stream, RequestHead request, long contentLength) {
        this.exchangeLoop = exchangeLoop;
        this.stream = stream;
        this.request = request;
        this.contentLength = contentLength;
        this.report = new ExchangeReport(exchangeLoop, stream, request);
        this.plans = new FetchPlans(exchangeLoop, request, stream.connection(), contentLength);
        this.permit = new ClientPermit(exchangeLoop);
        this.sender = new BodySender(stream, this, exchangeLoop.memory()::countReceived);
        this.answer = new ClientAnswer(exchangeLoop, stream, request, report, sender, this::leave);
        this.origin = new ExchangeFetch(exchangeLoop, stream, state, plans, this, contentLength);
    }

    private PartialAnswer partial() {
        if (partial == null) {
            partial = new PartialAnswer(exchangeLoop, stream, request, state, report, plans, sender, answer, this);
        }
        return partial;
    }

    private DecisionWaits waits() {
        return exchangeLoop.waitsOf(stream, request, contentLength);
    }

    /** Returns the receiver of the client's events. */
    RequestHandler receiver() {
        return answer.page() == null ? this : answer.page();
    }

    // Steps of the request

    /** Begins the exchange: decides about access, remap rule, cache key, lookup and reuse, and acts on the decision. */
    void begin() {
        lookups++;
        act(exchangeLoop.decider().decide(request, contentLength, stream.connection()));
    }

    /**
     * Begins the exchange like {@link #begin()}, for a request whose earlier decision is outdated.
     *
     * @param before the outdated decision
     */
    void beginAgain(Decision before) {
        lookups++;
        act(exchangeLoop.decider().decideAgain(request, contentLength, stream.connection(), before));
    }

    /** Begins the exchange like {@link #begin()}, with a decision that the fast lane has already made. */
    void begin(Decision decided) {
        lookups++;
        act(decided);
    }

    /** Executes a decision: answers, waits, or goes to the store or the origin. */
    private void act(Decision next) {
        decision = next;
        next.trace(report.trace());
        report.decided(next);
        answer.decided(next);
        if (next.kind().isWaiting()
                && !permit.acquire(next.upgrade() == null ? Kind.REQUESTS : Kind.TUNNELS, request, stream)) {
            refuse(next);
            return;
        }
        switch (next.kind()) {
            case TUNNEL -> throw new IllegalStateException("CONNECT has an exchange of its own");
            case DENIED -> answerLocally(next.local(), ExchangeOutcome.DENIED);
            case FINAL_RECIPIENT -> answerAsRecipient(next);
            case CHALLENGE -> waits().challenge(state::isTerminal, this::answerChallenge, this::resume);
            case AUTHENTICATE -> bufferContentAndWait().credentials(next, this::resume);
            case EXTENSION_PENDING -> bufferContentAndWait().hook(next, this::resume);
            case EXTENSION_ANSWERED -> answerByExtension(next);
            case NOT_MAPPED -> answerLocally(next.local(), ExchangeOutcome.NOT_MAPPED);
            case REDIRECTED -> redirect(next);
            case ANSWERED -> answerByRule(next);
            case PASS -> pass(next.forwardReason());
            case OPEN -> open(next);
            case FRESH -> {
                exchangeLoop.dictionaryServed(next, stream.connection());
                sendStored(next.takeObject(), CacheResult.HIT, ExchangeOutcome.HIT);
            }
            case SERVE_STALE -> sendStaleAsAllowed(next);
            case VALIDATE -> validate(next);
            case COMPLETE -> complete(next);
            case MISS -> fill(next);
            case UNAVAILABLE ->
                answerLocally(
                        504,
                        "the request contains only-if-cached, and the cache has no usable response",
                        ExchangeOutcome.LOCAL);
        }
        limitTime(next);
    }

    /** Starts the timer for the rule's limit of the total time, unless the request has ended already. */
    private void limitTime(Decision next) {
        if (isTimerSet || state.isTerminal() || !next.isMapped()) {
            return;
        }
        isTimerSet = true;
        long nanos = next.mapped().rule().config().transactionNanos();
        if (nanos > 0) {
            long left = Math.max(0, nanos - report.elapsedNanos());
            transactionTimer = stream.eventLoop().schedule(this::onTransactionTimeout, left, TimeUnit.NANOSECONDS);
        }
    }

    /**
     * Ends a request whose total time exceeds the limit: with 504, a stale response, or an aborted response. Tunnels
     * have no such limit.
     */
    private void onTransactionTimeout() {
        if (state.isTerminal() || state.phase() == ExchangePhase.TUNNELLING) {
            return;
        }
        boolean answering = answer.isHeadSent() || !state.phase().next().contains(ExchangePhase.SENDING_LOCAL);
        origin.cancel(answer.isHeadSent());
        report.timedOut(TRANSACTION_TIMEOUT);
        try {
            if (answering) {
                exchangeLoop.counters().increment(Counter.TRANSACTION_TIMEOUTS_BROKEN_OFF);
                state.end(ExchangeOutcome.TRANSACTION_TIMEOUT);
                stream.abort();
                leave(ExchangePhase.ABORTED);
            } else if (mayServeStale()) {
                exchangeLoop.counters().increment(Counter.TRANSACTION_TIMEOUTS_STALE);
                sendStale(TRANSACTION_TIMEOUT);
            } else {
                exchangeLoop.counters().increment(Counter.TRANSACTION_TIMEOUTS_REFUSED);
                answerLocally(
                        504,
                        "the request took longer than timeouts.transaction permits",
                        ExchangeOutcome.TRANSACTION_TIMEOUT);
            }
        } catch (RuntimeException | Error e) {
            onFault(e);
        }
    }

    private void answerChallenge(String text) {
        exchangeLoop.counters().increment(Counter.ACME_CHALLENGES_HTTP);
        state.enter(ExchangePhase.SENDING_LOCAL, ExchangeOutcome.LOCAL);
        answer.sendChallenge(text, origin.isContentDue());
        finish();
    }

    /** Decides again after the request has waited, unless the request has ended. */
    private void resume(Function<RequestDecider, Decision> decide) {
        if (state.isTerminal()) {
            return;
        }
        // The next decision may count the request against another limit, that of tunnels.
        permit.release();
        try {
            act(decide.apply(exchangeLoop.decider()));
        } catch (RuntimeException | Error e) {
            onFault(e);
        }
    }

    /** Buffers request content from now on, and returns the steps for which the request may have to wait. */
    private DecisionWaits bufferContentAndWait() {
        origin.holdContent();
        return waits();
    }

    /** Answers 429, because the client has reached its limit of requests or tunnels in progress. */
    private void refuse(Decision next) {
        StoredObject<StoredHead> object = next.takeObjectOrNull();
        if (object != null) {
            object.release();
        }
        Kind kind = next.upgrade() == null ? Kind.REQUESTS : Kind.TUNNELS;
        report.limited(kind.text());
        answerLocally(429, ClientPermit.text(kind), ExchangeOutcome.DENIED);
    }

    /** Reads the stored object from disk, then decides again. */
    private void open(Decision next) {
        state.enter(ExchangePhase.OPENING);
        exchangeLoop.store().open(next.key(), stream.eventLoop(), object -> {
            if (state.isTerminal()) {
                if (object != null) {
                    object.release();
                }
            } else {
                opened(next, object);
            }
        });
    }

    private void opened(Decision next, @Nullable StoredObject<StoredHead> object) {
        try {
            act(exchangeLoop.decider().afterOpen(next, object));
        } catch (RuntimeException | Error e) {
            onFault(e);
        }
    }

    /** Sends the request to the origin unchanged; nothing is stored. */
    private void pass(ForwardReason reason) {
        report.forwarded(reason);
        state.enter(ExchangePhase.FETCHING);
        origin.start(plans.pass(current()));
    }

    /** Fetches a response that is not stored, or joins the fetch in flight. */
    private void fill(Decision next) {
        report.forwarded(next.forwardReason());
        origin.startOrJoin(plans.miss(next, true), next, ExchangePhase.FETCHING);
    }

    /** Fetches the missing parts of a stored response. */
    private void complete(Decision next) {
        StoredObject<StoredHead> object = next.takeObject();
        report.forwarded(next.forwardReason());
        if (!StoredParts.isPart(object.head())) {
            sendBlocks(object, object.head(), false);
            return;
        }
        FetchPlan rest = plans.rest(next, object);
        if (rest != null) {
            origin.startOrJoin(rest, next, ExchangePhase.FETCHING);
        } else {
            object.release();
            fill(next);
        }
    }

    /** Validates the stored response with the origin, unless the origin is down and the response may be stale. */
    private void validate(Decision next) {
        StoredObject<StoredHead> object = next.takeObject();
        stale.keep(object);
        if (isOriginDown(next) && mayServeStale()) {
            sendStaleInsteadOfTrying(next, object);
            return;
        }
        report.forwarded(next.forwardReason());
        origin.startOrJoin(plans.validation(next, object), next, ExchangePhase.VALIDATING);
    }

    /** Returns true if the rule's origin is a single host, not a group, and is marked down. */
    private boolean isOriginDown(Decision next) {
        return next.mapped().originGroup() == null
                && exchangeLoop.settings().markdown().failThreshold() > 0
                && exchangeLoop.hosts().isDown(OriginRequests.origin(next.mapped()));
    }

    /**
     * Sends the kept stale response, because its origin is down. If a trial request is due, the response is also
     * validated in the background, to detect whether the origin answers again.
     */
    private void sendStaleInsteadOfTrying(Decision next, StoredObject<StoredHead> object) {
        exchangeLoop.counters().increment(Counter.ORIGIN_DOWN_STALE);
        if (exchangeLoop
                .hosts()
                .beginTrial(
                        OriginRequests.origin(next.mapped()),
                        exchangeLoop.clock().millis(),
                        exchangeLoop.settings().markdown())) {
            BackgroundValidation.start(exchangeLoop, next, stream.connection(), object.retain());
        }
        sendStale(ORIGIN_DOWN);
    }

    /** Sends the stored blocks of a response and fetches the missing ones. Takes over the reference. */
    private void sendBlocks(StoredObject<StoredHead> object, StoredHead stored, boolean collapsed) {
        if (state.phase() != ExchangePhase.FETCHING) {
            state.enter(ExchangePhase.FETCHING);
        }
        report.completed(collapsed);
        partial().send(current(), object, stored, collapsed);
    }

    @Override
    public void onNoContent(StoredObject<StoredHead> object, StoredHead stored) {
        sendStored(object, stored, CacheResult.PARTIAL, ExchangeOutcome.FETCHED);
    }

    @Override
    public void onFetchInstead(FetchPlan plan) {
        origin.start(plan);
    }

    private Decision current() {
        if (decision == null) {
            throw new IllegalStateException(
                    "nothing is decided in phase " + state.phase().text());
        }
        return decision;
    }

    // Callbacks of a shared fetch

    @Override
    public EventExecutor followerLoop() {
        return stream.eventLoop();
    }

    @Override
    public RequestHead request() {
        // The request that fetches use: the decision has removed the credentials and other parts meant for this proxy
        // only.
        return decision == null ? request : decision.request();
    }

    @Override
    public boolean isSampled() {
        return report.isSampled();
    }

    @Override
    public ContentSink sink() {
        return sender;
    }

    @Override
    public void onContinue() {
        if (!state.isTerminal() && !answer.isHeadSent()) {
            stream.writeInterim(exchangeLoop.outbound().reset(100, "Continue", FieldSection.EMPTY));
        }
    }

    @Override
    public void onInterim(ResponseHead head) {
        if (!state.isTerminal() && !answer.isHeadSent()) {
            stream.writeInterim(ResponseHeads.interim(exchangeLoop.outbound(), head));
        }
    }

    @Override
    public void onSwitched(SharedFetch from, ResponseHead head, SwitchedConnection connection) {
        TunnelAnswer begun = new TunnelAnswer(exchangeLoop, stream, request, report, this);
        OriginFailure problem = begun.problem(head);
        if (!origin.isCurrentFetch(from) || problem != null) {
            connection.close();
            if (problem != null) {
                onFetchFailure(from, problem);
            }
            return;
        }
        origin.forget();
        state.enter(ExchangePhase.TUNNELLING, ExchangeOutcome.TUNNELLED);
        tunnel = begun;
        begun.send(head, connection);
    }

    @Override
    public void onTunnelEnd(Tunnel.End end) {
        leave(end == Tunnel.End.CLOSED ? ExchangePhase.DONE : ExchangePhase.ABORTED);
    }

    @Override
    public void onOriginWritable() {
        origin.onWritable();
    }

    private static ExchangeOutcome outcome(FetchedResponse response, boolean collapsed) {
        if (response.isFromVariant()) {
            return ExchangeOutcome.HIT;
        }
        return collapsed ? ExchangeOutcome.COLLAPSED : ExchangeOutcome.FETCHED;
    }

    @Override
    public void onFetched(SharedFetch from, FetchedResponse response, ResponseTee.Reader reader, boolean collapsed) {
        if (!origin.isCurrentFetch(from) || answer.isHeadSent()) {
            reader.close();
            return;
        }
        origin.answered();
        if (StaleServing.isErrorStatus(response.head().status(), current().cacheSettings()) && mayServeStale()) {
            reader.close();
            sendStale("origin-" + response.head().status());
            return;
        }
        stale.release();
        if (collapsed) {
            exchangeLoop.counters().increment(Counter.COLLAPSED_SERVED);
        }
        report.answeredBy(from.host());
        report.linkedTo(from.span());
        report.fetched(response, collapsed);
        state.enter(ExchangePhase.SENDING_FETCHED, outcome(response, collapsed));
        if (!answer.sendFetched(response, reader)) {
            finish();
        }
    }

    @Override
    public void onBlocks(
            SharedFetch from, FetchedResponse response, StoredObject<StoredHead> object, boolean collapsed) {
        if (!origin.isCurrentFetch(from) || answer.isHeadSent()) {
            object.release();
            from.leaveBlocks();
            return;
        }
        origin.forget();
        stale.release();
        if (collapsed) {
            exchangeLoop.counters().increment(Counter.COLLAPSED_SERVED);
        }
        partial().readBlocksOf(from);
        report.answeredBy(from.host());
        report.linkedTo(from.span());
        report.storedInBlocks(response);
        StoredHead head = collapsed
                ? object.head()
                : Validation.forRequestingClient(
                        object.head(), response.head().fields(), current().cacheSettings());
        sendBlocks(object, head, collapsed);
    }

    @Override
    public void onConfirmed(
            SharedFetch from, StoredObject<StoredHead> object, StoredHead refreshed, boolean collapsed) {
        if (!origin.isCurrentFetch(from) || answer.isHeadSent()) {
            object.release();
            return;
        }
        origin.answered();
        stale.release();
        report.answeredBy(from.host());
        report.linkedTo(from.span());
        report.confirmed(collapsed, from.originVersion());
        if (StoredParts.of(request, object) == StoredParts.MISSING) {
            sendBlocks(object, refreshed, collapsed);
            return;
        }
        sendStored(object, refreshed, CacheResult.REVALIDATED, ExchangeOutcome.REVALIDATED);
    }

    @Override
    public void onNotShared(SharedFetch from, NotShared reason) {
        if (!origin.isCurrentFetch(from) || answer.isHeadSent()) {
            return;
        }
        origin.forget();
        if (reason == NotShared.ENDED && lookups < LOOKUPS_MAX) {
            stale.release();
            beginAgain(current());
            return;
        }
        exchangeLoop.counters().increment(Counter.COLLAPSED_FAILED);
        origin.fetchAlone(current());
    }

    @Override
    public void onFetchFailure(SharedFetch from, OriginFailure failure) {
        if (!origin.isCurrentFetch(from) || answer.isHeadSent()) {
            return;
        }
        origin.forget();
        report.failed(failure, from.host());
        report.linkedTo(from.span());
        if (failure.reason() == OriginFailure.Reason.DESTINATION) {
            // The destination address is denied. This is not a failure of the origin, so no stale response is served
            // instead.
            answerLocally(
                    FailureAnswer.status(failure.reason()),
                    ForwardDecider.DESTINATION,
                    FailureAnswer.outcome(failure.reason()));
            return;
        }
        if (mayServeStale()) {
            sendStale(failure.reason().text());
            return;
        }
        answerLocally(
                FailureAnswer.status(failure.reason()),
                FailureAnswer.text(failure.reason()),
                FailureAnswer.outcome(failure.reason()));
    }

    private boolean mayServeStale() {
        return stale.isPresentFor(request)
                && !stale.isHardInvalidated(
                        exchangeLoop.invalidations(), current().keyUrl())
                && stale.mayAnswer(
                        request,
                        exchangeLoop.clock().millis(),
                        current().cacheSettings(),
                        exchangeLoop.invalidations(),
                        current().keyUrl());
    }

    // Answers

    private void sendStale(String reason) {
        StoredObject<StoredHead> object = stale.take();
        report.stale(reason, object.head());
        report.staleSince(
                exchangeLoop.invalidations().staleSinceMillis(current().keyUrl(), object.head(), object.length()));
        StoredHead head = StaleServing.answer(
                object.head(), exchangeLoop.clock().millis(), current().cacheSettings());
        sendStored(object, head, CacheResult.STALE, ExchangeOutcome.STALE);
    }

    private void sendStored(StoredObject<StoredHead> object, CacheResult result, ExchangeOutcome success) {
        sendStored(object, object.head(), result, success);
    }

    /** Sends a stored response, a part of it, or the result of the client's preconditions. Takes over the reference. */
    private void sendStored(
            StoredObject<StoredHead> object, StoredHead stored, CacheResult result, ExchangeOutcome success) {
        state.enter(ExchangePhase.SENDING_STORED, success);
        if (!answer.sendStored(object, stored, result)) {
            finish();
        } else if (!state.isTerminal()) {
            permit.acquireUnchecked(request, stream);
        }
    }

    /**
     * Sends a stale response that max-stale of the client, stale-while-revalidate of the origin or an overload permits.
     */
    private void sendStaleAsAllowed(Decision next) {
        StoredObject<StoredHead> object = next.takeObject();
        if (next.isValidatingInBackground()) {
            BackgroundValidation.start(exchangeLoop, next, stream.connection(), object.retain());
        }
        if (next.isUnderLoad()) {
            exchangeLoop.counters().increment(Counter.OVERLOAD_ANSWERS);
        }
        report.stale(next.isUnderLoad() ? OVERLOAD : null, object.head());
        sendStored(object, CacheResult.STALE, ExchangeOutcome.HIT);
    }

    private void answerLocally(LocalAnswer localAnswer, ExchangeOutcome result) {
        answerLocally(localAnswer.status(), localAnswer.reason(), result);
    }

    private void answerLocally(int status, String text, ExchangeOutcome result) {
        state.enter(ExchangePhase.SENDING_LOCAL, result);
        answer.sendLocal(status, text, result, decision, origin.isContentDue());
        finish();
    }

    private void redirect(Decision next) {
        state.enter(ExchangePhase.SENDING_LOCAL, ExchangeOutcome.REDIRECTED);
        answer.sendRedirect(next, origin.isContentDue());
        finish();
    }

    private void answerByRule(Decision next) {
        state.enter(ExchangePhase.SENDING_LOCAL, ExchangeOutcome.LOCAL);
        answer.sendAnswer(next, origin.isContentDue());
        finish();
    }

    private void answerByExtension(Decision next) {
        RequestHooks hooks = Objects.requireNonNull(next.hooks());
        ExchangeOutcome result = hooks.isRefused() ? ExchangeOutcome.DENIED : ExchangeOutcome.LOCAL;
        state.enter(ExchangePhase.SENDING_LOCAL, result);
        answer.sendExtensionAnswer(hooks, result, origin.isContentDue());
        finish();
    }

    /** Answers an OPTIONS or TRACE request for which this proxy is the final recipient. */
    private void answerAsRecipient(Decision next) {
        state.enter(ExchangePhase.SENDING_LOCAL, ExchangeOutcome.LOCAL);
        answer.sendAsRecipient(next.local().allow(), origin.isContentDue());
        finish();
    }

    private void finish() {
        onBodyEnd(null);
    }

    @Override
    public void onBodyEnd(@Nullable FieldSection trailers) {
        if (answer.finish(trailers)) {
            leave(ExchangePhase.DONE);
        }
    }

    @Override
    public void onBodyFailure(ContentFailure failure) {
        if (!partial().continueAfter(current(), failure)) {
            onBrokenOff(failure);
        }
    }

    @Override
    public void onBrokenOff(ContentFailure failure) {
        state.end(failure == ContentFailure.STORE_READ ? ExchangeOutcome.STORE_READ : ExchangeOutcome.TRUNCATED);
        stream.abort();
        leave(ExchangePhase.ABORTED);
    }

    /**
     * Ends the exchange after an unexpected exception. The client gets 500; if its answer has begun, the stream is
     * aborted.
     */
    @Override
    public void onFault(Throwable fault) {
        log.error(
                "the request for {} failed with an internal error in phase {}",
                request.target().host(),
                state.phase().text(),
                fault);
        if (state.isTerminal()) {
            return;
        }
        state.end(ExchangeOutcome.INTERNAL);
        origin.cancel(answer.isHeadSent());
        if (!answer.isHeadSent() && state.phase().next().contains(ExchangePhase.SENDING_LOCAL)) {
            try {
                answerLocally(500, "internal error in this proxy", ExchangeOutcome.INTERNAL);
                return;
            } catch (RuntimeException | Error e) {
                fault.addSuppressed(e);
            }
        }
        stream.abort();
        if (!state.isTerminal()) {
            leave(ExchangePhase.ABORTED);
        }
    }

    // Events of the client

    @Override
    public void onContent(ByteBuf content) {
        origin.content(content);
    }

    @Override
    public void onRequestEnd() {
        origin.onRequestEnd();
    }

    @Override
    public void onRequestFailure(BadRequest reason) {
        if (state.isTerminal()) {
            return;
        }
        report.requestFailed(reason);
        origin.cancel(answer.isHeadSent());
        if (answer.isHeadSent()) {
            state.end(ExchangeOutcome.BAD_REQUEST);
            stream.abort();
            leave(ExchangePhase.ABORTED);
        } else {
            exchangeLoop.counters().increment(FailureCounters.of(reason));
            answerLocally(reason.status(), reason.text(), ExchangeOutcome.BAD_REQUEST);
        }
    }

    @Override
    public void onWritable() {
        sender.send();
    }

    @Override
    public SlowClients.OriginDemand originDemand() {
        return origin.demand();
    }

    @Override
    public void onClientTooSlow(SlowReason reason) {
        report.tooSlow(reason);
    }

    @Override
    public void onClientGone() {
        if (state.isTerminal()) {
            return;
        }
        state.end(ExchangeOutcome.CLIENT_GONE);
        exchangeLoop.counters().increment(Counter.CLIENT_FAILURES_ABORTED);
        origin.cancel(answer.isHeadSent());
        leave(ExchangePhase.ABORTED);
    }

    /** Ends the exchange in a terminal phase: stops the timer, releases all resources, and completes the report. */
    private void leave(ExchangePhase last) {
        state.enter(last);
        if (transactionTimer != null) {
            transactionTimer.cancel(false);
        }
        permit.release();
        if (decision != null && decision.hooks() != null) {
            decision.hooks().forget();
        }
        sender.close();
        stale.release();
        origin.forget();
        if (partial != null) {
            partial.close();
        }
        if (answer.repeat()) {
            report.withdraw();
        } else {
            report.end(state.outcome(), answer.contentBytes() + (tunnel == null ? 0 : tunnel.bytesToClient()));
        }
    }
}
