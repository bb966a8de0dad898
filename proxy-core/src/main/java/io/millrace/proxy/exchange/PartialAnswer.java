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
 * Sends a response from a stored object of which some blocks (parts of fixed size) may be missing. The head is sent
 * only when the first bytes are available, because another response is possible until then. Also continues a response
 * whose origin failed in the middle.
 *
 * <p>Confined to the exchange's event loop.
 */
final class PartialAnswer {
    /** Callbacks to the exchange. */
    interface Caller {
        /**
         * Called when the request wants no content, so the stored head suffices. The exchange takes over the reference.
         */
        void onNoContent(StoredObject<StoredHead> object, StoredHead stored);

        /** Called when the stored response is unusable. The exchange runs the given fetch instead. */
        void onFetchInstead(FetchPlan plan);

        /** Called when the missing bytes cannot be obtained. */
        void onBrokenOff(ContentFailure failure);

        /** Called after an unexpected exception. */
        void onFault(Throwable fault);
    }

    private final ExchangeLoop exchangeLoop;
    private final ClientStream stream;
    private final RequestHead request;
    private final ExchangeState state;
    private final ExchangeReport report;
    private final FetchPlans plans;
    private final BodySender sender;
    private final ClientAnswer answer;
    private final Caller caller;

    /** The body whose first bytes are awaited; null for none. */
    private @Nullable PartialBody preparing;

    /** The fetch whose blocks are read; null for none. */
    private @Nullable SharedFetch blocksOf;

    /** True once missing blocks were fetched for a response whose origin failed. */
    private boolean resumed;
    /** True once the remaining bytes were fetched without storing. */
    private boolean refetched;

    PartialAnswer(
            ExchangeLoop exchangeLoop,
            ClientStream stream,
            RequestHead request,
            ExchangeState state,
            ExchangeReport report,
            FetchPlans plans,
            BodySender sender,
            ClientAnswer answer,
            Caller caller) {
        this.exchangeLoop = exchangeLoop;
        this.stream = stream;
        this.request = request;
        this.state = state;
        this.report = report;
        this.plans = plans;
        this.sender = sender;
        this.answer = answer;
        this.caller = caller;
    }

    /** Registers as a reader of the blocks of a fetch. The fetch continues while it has readers. */
    void readBlocksOf(SharedFetch fetch) {
        blocksOf = fetch;
    }

    /** Sends the stored blocks and fetches the missing ones. Takes over the reference. */
    void send(Decision decision, StoredObject<StoredHead> object, StoredHead stored, boolean collapsed) {
        Selection selection = Selection.of(answer.selecting(stored), stored, object.length());
        if (request.method() == Method.HEAD || !selection.hasContent()) {
            caller.onNoContent(object, stored);
        } else if (selection.kind() == Selection.Kind.PARTS) {
            object.release();
            caller.onFetchInstead(plans.pass(decision));
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
                answer.sendPartial(body, selection, body.clientHead(stored), length);
            }

            @Override
            public void onNotReady(boolean changed) {
                preparing = null;
                body.close();
                caller.onFetchInstead(changed ? plans.whole(decision) : plans.pass(decision));
            }
        });
    }

    private PartialBody body(Decision decision, StoredObject<StoredHead> object, long position, long end) {
        return new PartialBody(
                exchangeLoop, decision, stream.connection(), object, sender, report::originAnswered, position, end);
    }

    /**
     * Continues a response whose source failed in the middle. If the origin failed and the beginning is stored as
     * blocks, fetches the missing blocks. If the store failed, fetches the remaining bytes from the origin without
     * storing them. Each way is tried once per exchange.
     *
     * @return whether an attempt was started; its later failure is reported to the exchange
     */
    boolean continueAfter(Decision decision, ContentFailure failure) {
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
        exchangeLoop.store().open(missing.keptUnder(), stream.eventLoop(), object -> {
            if (state.isTerminal()) {
                if (object != null) {
                    object.release();
                }
                return;
            }
            try {
                resume(decision, missing, object);
            } catch (RuntimeException | Error e) {
                caller.onFault(e);
            }
        });
        return true;
    }

    private void resume(Decision decision, ClientAnswer.Missing missing, @Nullable StoredObject<StoredHead> object) {
        boolean same = object != null
                && object.length() == missing.wholeLength()
                && StrongValidator.isSame(object.head(), missing.head());
        if (object == null || !same) {
            if (object != null) {
                object.release();
            }
            if (!refetch(decision, missing)) {
                caller.onBrokenOff(ContentFailure.ORIGIN_TRUNCATED);
            }
            return;
        }
        exchangeLoop.counters().increment(Counter.FILLS_RESUMED);
        sender.resume(body(decision, object, missing.position(), missing.end()));
    }

    private boolean refetch(Decision decision, ClientAnswer.Missing missing) {
        if (refetched || !StrongValidator.isPresent(missing.head())) {
            return false;
        }
        refetched = true;
        exchangeLoop.counters().increment(Counter.FILLS_RESUMED);
        sender.resume(new RangeContinuation(exchangeLoop, decision, stream.connection(), missing, sender));
        return true;
    }

    /** Called when the exchange ends: releases the body and leaves the fetch whose blocks it reads. */
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
