package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.validate.StrongValidator;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.forward.BodySender;
import io.millrace.proxy.exchange.report.ExchangeOutcome;
import io.millrace.proxy.exchange.report.ExchangePhase;
import io.millrace.proxy.exchange.report.ExchangeState;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.serve.Selection;
import io.millrace.store.StoredObject;
import org.jspecify.annotations.Nullable;

/**
 * The response from a stored object of which some blocks may be missing. The head is sent only when the first bytes are
 * available, since until then another response is possible. Also continues a response whose origin broke off.
 *
 * <p>Confined to the exchange's event loop.
 */
final class PartialAnswer {
    /** Callbacks to the exchange. */
    interface Asking {
        /** Called when no content is wanted: answer from the head. Passes on the reference. */
        void onNoContent(StoredObject<StoredHead> object, StoredHead stored);

        /** Called when the stored response is unusable: run this fetch instead. */
        void onFetchInstead(FetchPlan plan);

        /** Called when the rest cannot be obtained. */
        void onBrokenOff(ContentFailure failure);

        /** Called after an unexpected exception. */
        void onFault(Throwable fault);
    }

    private final ExchangeLoop home;
    private final ClientStream stream;
    private final RequestHead request;
    private final ExchangeState state;
    private final ExchangeReport report;
    private final FetchPlans plans;
    private final BodySender sender;
    private final ClientAnswer answer;
    private final Asking asking;

    private @Nullable PartialBody preparing;
    private @Nullable SharedFetch blocksOf;
    private boolean resumed;
    private boolean refetched;

    PartialAnswer(
            ExchangeLoop home,
            ClientStream stream,
            RequestHead request,
            ExchangeState state,
            ExchangeReport report,
            FetchPlans plans,
            BodySender sender,
            ClientAnswer answer,
            Asking asking) {
        this.home = home;
        this.stream = stream;
        this.request = request;
        this.state = state;
        this.report = report;
        this.plans = plans;
        this.sender = sender;
        this.answer = answer;
        this.asking = asking;
    }

    /** Registers as a reader of the blocks of a fetch. The fetch continues while it has readers. */
    void readBlocksOf(SharedFetch fetch) {
        blocksOf = fetch;
    }

    /** Sends the stored blocks and fetches the missing ones. Takes over the reference. */
    void send(Decision decision, StoredObject<StoredHead> object, StoredHead stored, boolean collapsed) {
        Selection selection = Selection.of(request, stored, object.length());
        if (request.method() == Method.HEAD || !selection.hasContent()) {
            asking.onNoContent(object, stored);
        } else if (selection.kind() == Selection.Kind.PARTS) {
            object.release();
            asking.onFetchInstead(plans.pass(decision));
        } else {
            prepare(decision, object, stored, selection, collapsed);
        }
    }

    private void prepare(
            Decision decision,
            StoredObject<StoredHead> object,
            StoredHead stored,
            Selection selection,
            boolean collapsed) {
        long length = object.length();
        PartialBody body = body(decision, object, selection.first(), selection.end());
        preparing = body;
        body.prepare(new PartialBody.Ready() {
            @Override
            public void onReady() {
                preparing = null;
                state.enter(
                        ExchangePhase.SENDING_STORED, collapsed ? ExchangeOutcome.COLLAPSED : ExchangeOutcome.FETCHED);
                answer.sendPartial(body, selection, body.headOver(stored), length);
            }

            @Override
            public void onNotReady(boolean changed) {
                preparing = null;
                body.close();
                asking.onFetchInstead(changed ? plans.whole(decision) : plans.pass(decision));
            }
        });
    }

    private PartialBody body(Decision decision, StoredObject<StoredHead> object, long position, long end) {
        return new PartialBody(
                home, decision, stream.connection(), object, sender, report::originAnswered, position, end);
    }

    /**
     * Continues a response that broke off. If its origin broke off and the beginning is stored as blocks, the missing
     * blocks are fetched. If the store cannot read the response any more, the rest is fetched from the origin without
     * storing. Each is tried once per exchange.
     *
     * @return whether an attempt was started; its later failure is reported to the exchange
     */
    boolean goOn(Decision decision, ContentFailure failure) {
        ClientAnswer.Missing missing = request.method() == Method.GET ? answer.missing() : null;
        if (missing == null) {
            return false;
        }
        return switch (failure) {
            case ORIGIN_TRUNCATED -> resume(decision, missing);
            case STORE_READ -> refetch(decision, missing);
            case ORIGIN_CHANGED -> false;
        };
    }

    private boolean resume(Decision decision, ClientAnswer.Missing missing) {
        if (resumed || missing.keptUnder() == null) {
            return false;
        }
        resumed = true;
        home.store().open(missing.keptUnder(), stream.eventLoop(), object -> {
            if (state.isTerminal()) {
                if (object != null) {
                    object.release();
                }
                return;
            }
            try {
                resume(decision, missing, object);
            } catch (RuntimeException | Error e) {
                asking.onFault(e);
            }
        });
        return true;
    }

    private void resume(Decision decision, ClientAnswer.Missing missing, @Nullable StoredObject<StoredHead> object) {
        boolean same = object != null
                && object.length() == missing.length()
                && StrongValidator.isSame(object.head(), missing.head());
        if (object == null || !same) {
            if (object != null) {
                object.release();
            }
            if (!refetch(decision, missing)) {
                asking.onBrokenOff(ContentFailure.ORIGIN_TRUNCATED);
            }
            return;
        }
        home.counters().increment(Counter.FILLS_RESUMED);
        sender.resume(body(decision, object, missing.position(), missing.end()));
    }

    private boolean refetch(Decision decision, ClientAnswer.Missing missing) {
        if (refetched || !StrongValidator.isPresent(missing.head())) {
            return false;
        }
        refetched = true;
        home.counters().increment(Counter.FILLS_RESUMED);
        sender.resume(new RangeContinuation(home, decision, stream.connection(), missing, sender));
        return true;
    }

    /** Ends the response with the exchange. */
    void close() {
        if (preparing != null) {
            preparing.close();
            preparing = null;
        }
        if (blocksOf != null) {
            blocksOf.leaveBlocks();
            blocksOf = null;
        }
    }
}
