package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StaleServing;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StrongValidator;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.ForwardReason;
import io.millrace.proxy.serve.Selection;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state machine of one request. Every step of the request path is called from here and none calls back but through the
 * interfaces implemented here; {@link ExchangePhase} has the transitions.
 *
 * <p>Confined to the client stream's event loop.
 */
final class Exchange implements RequestHandler, LegWaiter, BodyPump.End {
    /** Looks at the store again after a leg that ended before it could be joined; then it fetches alone. */
    private static final int LOOKUPS_MAX = 3;

    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    private final ExchangeLoop home;
    private final ClientStream stream;
    private final RequestHead request;
    private final long contentLength;
    private final ExchangeReport report;
    private final FetchPlans plans;
    private final BodyPump pump;
    private final ClientAnswer answer;
    private final StaleCopy stale = new StaleCopy();
    private final FollowTimer followTimer = new FollowTimer();

    private ExchangePhase phase = ExchangePhase.RECEIVED;
    private @Nullable Decision decision;
    private @Nullable OriginLeg leg;
    private ExchangeOutcome outcome = ExchangeOutcome.INTERNAL;
    private @Nullable PartialBody preparing;
    private @Nullable OriginLeg blocksOf;
    private int lookups;
    private boolean requestEnded;
    private boolean resumed;

    Exchange(ExchangeLoop home, ClientStream stream, RequestHead request, long contentLength) {
        this.home = home;
        this.stream = stream;
        this.request = request;
        this.contentLength = contentLength;
        this.report = new ExchangeReport(home, stream, request);
        this.plans = new FetchPlans(home, request, stream.connection(), contentLength);
        this.pump = new BodyPump(stream, this);
        this.answer = new ClientAnswer(home, stream, request, report, pump);
    }

    // step by step

    /** The first step: access, remap, key, lookup, reuse in one decision. */
    void begin() {
        lookups++;
        act(home.decider().decide(request, contentLength));
    }

    private void act(Decision next) {
        decision = next;
        if (next.isMapped()) {
            report.mapped(next.mapped().originHost());
        }
        if (next.isReadFromDisk()) {
            report.readFromDisk();
        }
        switch (next.kind()) {
            case DENIED -> answerLocally(next.deniedStatus(), next.reason(), ExchangeOutcome.DENIED);
            case FINAL_RECIPIENT -> answerAsRecipient(next);
            case NOT_MAPPED -> answerLocally(404, next.reason(), ExchangeOutcome.NOT_MAPPED);
            case PASS -> pass(next.forwardReason());
            case OPEN -> open(next);
            case FRESH -> sendStored(next.takeObject(), CacheResult.HIT, ExchangeOutcome.HIT);
            case FRESH_ENOUGH -> sendStaleAsAllowed(next);
            case VALIDATE -> validate(next);
            case COMPLETE -> complete(next);
            case MISS -> fill(next);
            case UNAVAILABLE ->
                answerLocally(504, "not in the cache, and only-if-cached was asked for", ExchangeOutcome.LOCAL);
        }
    }

    private void open(Decision next) {
        enter(ExchangePhase.OPENING);
        home.store().open(next.key(), stream.eventLoop(), object -> {
            if (phase.isTerminal()) {
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
            act(home.decider().afterOpen(next, object));
        } catch (RuntimeException | Error e) {
            onFault(e);
        }
    }

    private void pass(ForwardReason reason) {
        report.forwarded(reason);
        enter(ExchangePhase.FETCHING);
        startLeg(plans.pass(current()));
    }

    private void fill(Decision next) {
        report.forwarded(next.forwardReason());
        lead(plans.miss(next, true), ExchangePhase.FETCHING);
    }

    /** Fetches what is missing of a stored response. */
    private void complete(Decision next) {
        StoredObject<StoredHead> object = next.takeObject();
        report.forwarded(next.forwardReason());
        if (!StoredParts.isPart(object.head())) {
            sendBlocks(object, object.head(), false);
            return;
        }
        LegPlan rest = plans.rest(next, object);
        if (rest != null) {
            lead(rest, ExchangePhase.FETCHING);
        } else {
            object.release();
            fill(next);
        }
    }

    private void validate(Decision next) {
        StoredObject<StoredHead> object = next.takeObject();
        stale.keep(object);
        report.forwarded(next.forwardReason());
        lead(plans.validation(next, object), ExchangePhase.VALIDATING);
    }

    /** Sends what is stored in blocks, and fetches those that are missing; takes over the reference. */
    private void sendBlocks(StoredObject<StoredHead> object, StoredHead stored, boolean collapsed) {
        if (phase != ExchangePhase.FETCHING) {
            enter(ExchangePhase.FETCHING);
        }
        Selection selection = Selection.of(request, stored, object.length());
        report.completed(collapsed);
        if (request.method() == Method.HEAD || !selection.hasContent()) {
            sendStored(object, stored, CacheResult.PARTIAL, ExchangeOutcome.FETCHED);
        } else if (selection.kind() == Selection.Kind.PARTS) {
            object.release();
            startLeg(plans.pass(current()));
        } else {
            prepareBlocks(object, stored, selection, collapsed);
        }
    }

    private void prepareBlocks(
            StoredObject<StoredHead> object, StoredHead stored, Selection selection, boolean collapsed) {
        long length = object.length();
        PartialBody body =
                new PartialBody(home, current(), stream.connection(), object, pump, selection.first(), selection.end());
        preparing = body;
        body.prepare(new PartialBody.Ready() {
            @Override
            public void onReady() {
                preparing = null;
                enter(ExchangePhase.SENDING_STORED);
                outcome = collapsed ? ExchangeOutcome.COLLAPSED : ExchangeOutcome.FETCHED;
                answer.sendPartial(body, selection, stored, length);
            }

            @Override
            public void onNotReady(boolean changed) {
                preparing = null;
                body.close();
                startLeg(changed ? plans.whole(current()) : plans.pass(current()));
            }
        });
    }

    /** Begins a leg, or joins the one that fetches the same key already. */
    private void lead(LegPlan plan, ExchangePhase whenLeading) {
        OriginLeg mine = new OriginLeg(home, plan);
        if (plan.collapseKey() != null) {
            OriginLeg other = home.collapser().lead(plan.collapseKey(), mine);
            if (other != null) {
                plan.release();
                if (!other.isPart() && plans.isRangeFarAhead()) {
                    enter(whenLeading);
                    startLeg(plans.pass(current()));
                } else {
                    follow(other);
                }
                return;
            }
        }
        enter(whenLeading);
        leg = mine;
        mine.start(this);
    }

    private void startLeg(LegPlan plan) {
        OriginLeg mine = new OriginLeg(home, plan);
        leg = mine;
        mine.start(this);
        if (contentLength != 0) {
            stream.readContent(false);
        }
    }

    private void follow(OriginLeg other) {
        enter(ExchangePhase.COLLAPSED);
        home.counters().increment(Counter.LOOKUPS_FILLING);
        leg = other;
        long waitNanos = current().mapped().rule().config().cache().collapseWaitNanos();
        followTimer.start(stream.eventLoop(), waitNanos, this::onCollapseTimeout);
        other.join(this);
    }

    private void onCollapseTimeout() {
        if (phase == ExchangePhase.COLLAPSED && leg != null) {
            home.counters().increment(Counter.COLLAPSED_TIMEOUT);
            leg.leave(this);
            try {
                fetchAlone();
            } catch (RuntimeException | Error e) {
                onFault(e);
            }
        }
    }

    private void fetchAlone() {
        followTimer.cancel();
        enter(ExchangePhase.FETCHING);
        OriginLeg mine = new OriginLeg(home, plans.miss(current(), false));
        leg = mine;
        mine.start(this);
    }

    private Decision current() {
        if (decision == null) {
            throw new IllegalStateException("nothing is decided in phase " + phase.text());
        }
        return decision;
    }

    // what a leg says

    @Override
    public EventExecutor waiterLoop() {
        return stream.eventLoop();
    }

    @Override
    public RequestHead request() {
        return request;
    }

    @Override
    public ContentSink sink() {
        return pump;
    }

    @Override
    public void onContinue() {
        if (!phase.isTerminal() && !answer.isHeadSent()) {
            stream.writeInterim(home.outbound().reset(100, "Continue", FieldSection.EMPTY));
        }
    }

    @Override
    public void onInterim(ResponseHead head) {
        if (!phase.isTerminal() && !answer.isHeadSent()) {
            stream.writeInterim(ResponseHeads.interim(home.outbound(), head));
        }
    }

    @Override
    public void onOriginWritable() {
        if (!phase.isTerminal() && contentLength != 0) {
            stream.readContent(true);
        }
    }

    @Override
    public void onFetched(OriginLeg from, FetchedResponse response, ResponseTee.Reader reader, boolean collapsed) {
        if (from != leg || answer.isHeadSent()) {
            reader.close();
            return;
        }
        followTimer.cancel();
        if (StaleServing.isErrorStatus(response.head().status(), current().cacheSettings()) && mayServeStale()) {
            reader.close();
            sendStale("origin-" + response.head().status());
            return;
        }
        stale.release();
        if (collapsed) {
            home.counters().increment(Counter.COLLAPSED_SERVED);
        }
        report.fetched(response, collapsed);
        enter(ExchangePhase.SENDING_FETCHED);
        outcome = collapsed ? ExchangeOutcome.COLLAPSED : ExchangeOutcome.FETCHED;
        if (!answer.sendFetched(response, reader)) {
            finish();
        }
    }

    @Override
    public void onBlocks(OriginLeg from, FetchedResponse response, StoredObject<StoredHead> object, boolean collapsed) {
        if (from != leg || answer.isHeadSent()) {
            object.release();
            from.leaveBlocks();
            return;
        }
        followTimer.cancel();
        stale.release();
        if (collapsed) {
            home.counters().increment(Counter.COLLAPSED_SERVED);
        }
        leg = null;
        blocksOf = from;
        sendBlocks(object, object.head(), collapsed);
    }

    @Override
    public void onConfirmed(OriginLeg from, StoredObject<StoredHead> object, StoredHead refreshed, boolean collapsed) {
        if (from != leg || answer.isHeadSent()) {
            object.release();
            return;
        }
        followTimer.cancel();
        stale.release();
        report.confirmed(collapsed);
        if (StoredParts.of(request, object) == StoredParts.MISSING) {
            sendBlocks(object, refreshed, collapsed);
            return;
        }
        sendStored(object, refreshed, CacheResult.REVALIDATED, ExchangeOutcome.REVALIDATED);
    }

    @Override
    public void onNotShared(OriginLeg from, NotShared reason) {
        if (from != leg || answer.isHeadSent()) {
            return;
        }
        followTimer.cancel();
        leg = null;
        if (reason == NotShared.ENDED && lookups < LOOKUPS_MAX) {
            stale.release();
            begin();
            return;
        }
        home.counters().increment(Counter.COLLAPSED_FAILED);
        fetchAlone();
    }

    @Override
    public void onLegFailure(OriginLeg from, OriginFailure failure) {
        if (from != leg || answer.isHeadSent()) {
            return;
        }
        followTimer.cancel();
        leg = null;
        report.failed(failure);
        if (mayServeStale()) {
            sendStale(failure.reason().text());
            return;
        }
        boolean timeout = failure.reason().isTimeout();
        answerLocally(
                timeout ? 504 : 502,
                "the origin gave no answer: " + failure.reason().text(),
                timeout ? ExchangeOutcome.ORIGIN_TIMEOUT : ExchangeOutcome.ORIGIN_FAILED);
    }

    private boolean mayServeStale() {
        return stale.isPresentFor(request)
                && stale.mayAnswer(request, home.clock().millis(), current().cacheSettings());
    }

    // answers

    private void sendStale(String why) {
        report.stale(why);
        StoredObject<StoredHead> object = stale.take();
        StoredHead head = StaleServing.answer(
                object.head(), home.clock().millis(), current().cacheSettings());
        sendStored(object, head, CacheResult.STALE, ExchangeOutcome.STALE);
    }

    private void sendStored(StoredObject<StoredHead> object, CacheResult result, ExchangeOutcome success) {
        sendStored(object, object.head(), result, success);
    }

    /** Sends a stored response, a part of it, or what the client's preconditions make of it; takes over the reference. */
    private void sendStored(
            StoredObject<StoredHead> object, StoredHead stored, CacheResult result, ExchangeOutcome success) {
        enter(ExchangePhase.SENDING_STORED);
        outcome = success;
        if (!answer.sendStored(object, stored, result)) {
            finish();
        }
    }

    /** A stale response that the client's max-stale or the origin's stale-while-revalidate lets through. */
    private void sendStaleAsAllowed(Decision next) {
        StoredObject<StoredHead> object = next.takeObject();
        if (next.isValidatingAside()) {
            BackgroundValidation.start(home, next, stream.connection(), object.retain());
        }
        sendStored(object, CacheResult.STALE, ExchangeOutcome.HIT);
    }

    private void answerLocally(int status, String text, ExchangeOutcome result) {
        enter(ExchangePhase.SENDING_LOCAL);
        outcome = result;
        String allow = decision == null ? null : decision.allow();
        answer.sendLocal(status, text, result, allow, contentLength != 0 && !requestEnded);
        finish();
    }

    /** OPTIONS and TRACE that may go no further. */
    private void answerAsRecipient(Decision next) {
        enter(ExchangePhase.SENDING_LOCAL);
        outcome = ExchangeOutcome.LOCAL;
        answer.sendAsRecipient(next.allow(), contentLength != 0 && !requestEnded);
        finish();
    }

    private void finish() {
        stream.finish();
        leave(ExchangePhase.DONE);
    }

    @Override
    public void onBodyEnd() {
        finish();
    }

    /** The origin broke off: where what came is kept as blocks, the rest is fetched like any that is missing. */
    @Override
    public void onBodyFailure(ContentFailure failure) {
        ClientAnswer.Missing missing = failure == ContentFailure.ORIGIN_TRUNCATED && !resumed ? answer.missing() : null;
        if (missing == null) {
            breakOff(failure);
            return;
        }
        resumed = true;
        home.store().open(missing.key(), stream.eventLoop(), object -> {
            if (phase.isTerminal()) {
                if (object != null) {
                    object.release();
                }
                return;
            }
            try {
                resume(missing, object);
            } catch (RuntimeException | Error e) {
                onFault(e);
            }
        });
    }

    private void resume(ClientAnswer.Missing missing, @Nullable StoredObject<StoredHead> object) {
        boolean same = object != null
                && object.length() == missing.length()
                && StrongValidator.isSame(object.head(), missing.head());
        if (object == null || !same) {
            if (object != null) {
                object.release();
            }
            breakOff(ContentFailure.ORIGIN_TRUNCATED);
            return;
        }
        home.counters().increment(Counter.FILLS_RESUMED);
        pump.resume(
                new PartialBody(home, current(), stream.connection(), object, pump, missing.position(), missing.end()));
    }

    private void breakOff(ContentFailure failure) {
        outcome = failure == ContentFailure.STORE_READ ? ExchangeOutcome.STORE_READ : ExchangeOutcome.TRUNCATED;
        stream.abort();
        leave(ExchangePhase.ABORTED);
    }

    /** Something threw: the client gets 500 or, once its answer has begun, a broken connection. */
    @Override
    public void onFault(Throwable fault) {
        log.error("exchange for {} failed in phase {}", request.target().host(), phase.text(), fault);
        if (phase.isTerminal()) {
            return;
        }
        outcome = ExchangeOutcome.INTERNAL;
        cancelLeg();
        if (!answer.isHeadSent() && phase.next().contains(ExchangePhase.SENDING_LOCAL)) {
            try {
                answerLocally(500, "a fault in this proxy", ExchangeOutcome.INTERNAL);
                return;
            } catch (RuntimeException | Error e) {
                fault.addSuppressed(e);
            }
        }
        stream.abort();
        if (!phase.isTerminal()) {
            leave(ExchangePhase.ABORTED);
        }
    }

    // what the client does

    @Override
    public void onContent(ByteBuf content) {
        OriginCall call = leg == null ? null : leg.call();
        if (call == null || phase.isTerminal()) {
            content.release();
            return;
        }
        call.write(content);
        if (!call.isRequestWritable()) {
            stream.readContent(false);
        }
    }

    @Override
    public void onRequestEnd() {
        requestEnded = true;
        OriginCall call = leg == null ? null : leg.call();
        if (contentLength != 0 && call != null && !phase.isTerminal()) {
            call.finishRequest();
        }
    }

    @Override
    public void onRequestFailure(BadRequest reason) {
        if (phase.isTerminal()) {
            return;
        }
        cancelLeg();
        if (answer.isHeadSent()) {
            outcome = ExchangeOutcome.BAD_REQUEST;
            stream.abort();
            leave(ExchangePhase.ABORTED);
        } else {
            home.counters().increment(FailureCounters.of(reason));
            answerLocally(reason.status(), reason.text(), ExchangeOutcome.BAD_REQUEST);
        }
    }

    @Override
    public void onWritable() {
        pump.pump();
    }

    @Override
    public void onClientGone() {
        if (phase.isTerminal()) {
            return;
        }
        outcome = ExchangeOutcome.CLIENT_GONE;
        home.counters().increment(Counter.CLIENT_FAILURES_ABORTED);
        cancelLeg();
        leave(ExchangePhase.ABORTED);
    }

    private void cancelLeg() {
        OriginLeg current = leg;
        leg = null;
        if (current != null && !answer.isHeadSent()) {
            current.leave(this);
        } else if (current != null && contentLength != 0 && !requestEnded && current.call() != null) {
            current.call().cancel();
        }
    }

    // the machine itself

    private void enter(ExchangePhase next) {
        assert phase.next().contains(next) : phase + " -> " + next;
        phase = next;
    }

    private void leave(ExchangePhase last) {
        enter(last);
        pump.close();
        stale.release();
        followTimer.cancel();
        leg = null;
        if (preparing != null) {
            preparing.close();
            preparing = null;
        }
        if (blocksOf != null) {
            blocksOf.leaveBlocks();
            blocksOf = null;
        }
        report.end(outcome, pump.bytes());
    }
}
