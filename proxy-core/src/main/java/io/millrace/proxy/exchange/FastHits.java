package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.edge.EdgeRules;
import io.millrace.proxy.edge.EsiRule;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.DecisionKind;
import io.millrace.proxy.exchange.decide.StoredParts;
import io.millrace.proxy.exchange.decide.UnretainedReader;
import io.millrace.proxy.exchange.report.ExchangeOutcome;
import io.millrace.proxy.exchange.settings.LoopTickClock;
import io.millrace.proxy.exchange.settings.WallClock;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.DecidedRequest;
import io.millrace.proxy.net.FastReceiver;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.serve.Selection;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The request handler of the fast lane, a short code path for hits in RAM on new connections. Decides each request and,
 * if a fresh response in RAM answers it, writes that response immediately. Selection, head and report are the same as
 * in an {@link Exchange}. Any other request is returned with its decision, which then belongs to the caller. The
 * decision and report objects of an answered request are reused for the next request.
 *
 * <p>Confined to one event loop.
 */
final class FastHits {
    /**
     * Limit, in bytes, of content that is copied after its response head. For longer content, the connection gets a
     * Netty channel, which sends the content without a copy.
     */
    private static final long LENGTH_MAX = 32 * 1024;

    private final ExchangeLoop exchangeLoop;
    private @Nullable Decision lastDecision;
    private @Nullable ExchangeReport lastReport;
    private final UnretainedReader reader = new UnretainedReader();
    private final LoopTickClock time;

    FastHits(ExchangeLoop exchangeLoop, WallClock clock) {
        this.exchangeLoop = exchangeLoop;
        this.time = new LoopTickClock(clock);
    }

    /** See {@link FastReceiver#beginBatch}. */
    void beginBatch() {
        time.forget();
    }

    /** Answers the request and returns null, or returns the decision. */
    @Nullable
    DecidedRequest answer(ClientStream stream, RequestHead head) {
        try {
            return answerBorrowing(stream, head);
        } finally {
            reader.end();
        }
    }

    /** Answers with an object that is borrowed until the reader's epoch ends. */
    private @Nullable DecidedRequest answerBorrowing(ClientStream stream, RequestHead head) {
        Decision decision = null;
        try {
            long receivedNanos = time.nanos();
            long receivedMillis = time.millis();
            decision = decisionOf(head);
            decision.borrowFrom(reader);
            exchangeLoop.decider().decide(decision, 0, stream.connection(), receivedMillis);
            Selection selection = selectionOf(decision);
            if (selection == null || isDictionaryWanted(decision, stream, receivedMillis)) {
                time.forget();
                lastDecision = null;
                decision.retainBorrowed();
                return new Decided(exchangeLoop, decision, null);
            }
            send(reportOf(stream, head, receivedMillis, receivedNanos), stream, decision, selection, receivedMillis);
            return null;
        } catch (RuntimeException | Error e) {
            time.forget();
            lastDecision = null;
            if (decision != null) {
                decision.retainBorrowed();
            }
            return new Decided(exchangeLoop, decision, e);
        }
    }

    private boolean isDictionaryWanted(Decision decision, ClientStream stream, long nowMillis) {
        StoredObject<StoredHead> object = decision.object();
        return object != null
                && exchangeLoop.isDictionaryWanted(decision, object.head(), stream.connection(), nowMillis);
    }

    /** Closes the fast lane. Call once no more requests arrive. */
    void close() {
        reader.close();
    }

    private Decision decisionOf(RequestHead head) {
        Decision decision = lastDecision;
        if (decision == null) {
            decision = new Decision(head);
            lastDecision = decision;
        } else {
            decision.begin(head);
        }
        return decision;
    }

    private ExchangeReport reportOf(ClientStream stream, RequestHead head, long receivedMillis, long receivedNanos) {
        ExchangeReport report = lastReport;
        if (report == null) {
            report = new ExchangeReport(exchangeLoop, stream, head, receivedMillis, receivedNanos);
            lastReport = report;
        } else {
            report.begin(stream, head, receivedMillis, receivedNanos);
        }
        return report;
    }

    /**
     * Returns the selection of a fresh response that is completely in RAM and short enough; null when a Netty channel
     * and a full exchange have to answer.
     */
    private @Nullable Selection selectionOf(Decision decision) {
        StoredObject<StoredHead> object = decision.object();
        if (decision.kind() != DecisionKind.FRESH || object == null || object.residentBody() == null) {
            return null;
        }
        StoredHead stored = object.head();
        if (StoredParts.isPart(stored) || isDocument(decision, stored)) {
            return null;
        }
        Selection selection = Selection.of(decision.request(), stored, object.length());
        return switch (selection.kind()) {
            case WHOLE -> isWithoutContent(decision, selection) || object.length() <= LENGTH_MAX ? selection : null;
            case NOT_MODIFIED -> selection;
            case PART, PARTS, PRECONDITION_FAILED, UNSATISFIABLE -> null;
        };
    }

    /** Returns true if the response is a document from which a page is assembled. */
    private boolean isDocument(Decision decision, StoredHead stored) {
        EdgeRules edge = exchangeLoop.settings().edge();
        if (edge == null || !edge.assemblesPages()) {
            return false;
        }
        EsiRule rule = edge.esi(decision.mapped().rule().index());
        return rule != null && rule.isDocument(stored);
    }

    private static boolean isWithoutContent(Decision decision, Selection selection) {
        return decision.request().method() == Method.HEAD || !selection.hasContent();
    }

    private void send(
            ExchangeReport report, ClientStream stream, Decision decision, Selection selection, long nowMillis) {
        RequestHead request = decision.request();
        int length = 0;
        try {
            // The object is used without a reference, because all its bytes are copied before the reader's epoch ends.
            // The store frees no RAM entry that a reader of the current epoch may use.
            StoredObject<StoredHead> object = decision.takeObject();
            report.decided(decision);
            report.stored(object.head(), CacheResult.HIT, true);
            StoredHead head = ClientAnswer.toClient(exchangeLoop, object.head(), request, decision.mapped());
            ClientAnswer.sendHead(exchangeLoop, stream, request, report, selection, head, object.length(), nowMillis);
            ByteBuf body = object.residentBody();
            if (body != null && !isWithoutContent(decision, selection)) {
                length = (int) object.length();
                stream.writeCopy(body, body.readerIndex(), length);
            }
            stream.finish();
        } catch (RuntimeException | Error e) {
            report.withdraw();
            throw e;
        }
        report.end(ExchangeOutcome.HIT, length);
        time.advanceTo(report.endNanos());
    }

    /**
     * A request that the fast lane does not answer. It continues in an exchange, on a Netty channel for the connection.
     *
     * @param decision null when an exception prevented the decision
     * @param fault the exception, for which the exchange answers 500
     */
    private record Decided(
            ExchangeLoop exchangeLoop,
            @Nullable Decision decision,
            @Nullable Throwable fault) implements DecidedRequest {
        @Override
        public RequestHandler resume(ClientStream stream, RequestHead head) {
            Exchange exchange;
            try {
                exchange = exchangeLoop.exchange(stream, head, 0);
            } catch (RuntimeException | Error e) {
                release();
                throw e;
            }
            if (fault != null || decision == null) {
                release();
                exchange.onFault(fault == null ? new IllegalStateException("no decision was made") : fault);
                return exchange.receiver();
            }
            try {
                if (isStoredMeanwhile(decision)) {
                    exchange.beginAgain(decision);
                } else {
                    decision.replaceRequest(head);
                    exchange.begin(decision);
                }
            } catch (RuntimeException | Error e) {
                exchange.onFault(e);
            }
            return exchange.receiver();
        }

        /**
         * Returns true if another loop has stored the missing response while the channel was created. This check avoids
         * a second fetch.
         */
        private boolean isStoredMeanwhile(Decision missed) {
            return missed.kind() == DecisionKind.MISS && exchangeLoop.store().isInRam(missed.key());
        }

        @Override
        public void release() {
            StoredObject<StoredHead> object = decision == null ? null : decision.takeObjectOrNull();
            if (object != null) {
                object.release();
            }
        }
    }
}
