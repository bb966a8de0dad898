package io.millrace.proxy.observe.trace;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogField;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The trace of one request: its ids, the decision about its export, and its finished requests to origins.
 *
 * <p>The decision has two parts. At its start, a request is sampled by the flag of a trusted client, or by the ratio of
 * the settings. At its end, a slow or failed request is exported although it was not sampled. At most
 * {@value LoopTraces#WAITING_MAX} spans of its origin requests wait for this decision; further ones are dropped.
 *
 * <p>Confined to the event loop that serves the request. Other threads may read the ids and {@link #isSampled}.
 */
public final class ExchangeTrace {
    private static final int ID_DIGITS = 32;
    private static final int HALF_ID_DIGITS = 16;

    private final LoopTraces traces;
    private final byte[] idDigits = new byte[ID_DIGITS];
    private final List<ClientSpan> waiting = new ArrayList<>(0);
    private LoopTraces.Sampling sampling = new LoopTraces.Sampling(0, 0);
    private long traceHigh;
    private long traceLow;
    private long parentId;
    private long spanId;
    private boolean isSampled;
    /** Fields of the request, which contain the tracestate to continue; null if the trace is new. */
    private @Nullable FieldSection continuedFields;

    private boolean isExported;
    private boolean hasEnded;
    private long linkTraceHigh;
    private long linkTraceLow;
    private long linkSpanId;

    ExchangeTrace(LoopTraces traces) {
        this.traces = traces;
    }

    ExchangeTrace begin(LoopTraces.Sampling with) {
        sampling = with;
        traceHigh = traces.nextId();
        traceLow = traces.nextId();
        parentId = 0;
        spanId = traces.nextId();
        isSampled = with.includes(traceLow);
        continuedFields = null;
        isExported = isSampled;
        hasEnded = false;
        linkTraceHigh = 0;
        linkTraceLow = 0;
        linkSpanId = 0;
        waiting.clear();
        return this;
    }

    /**
     * Continues the trace of a trusted client, if the request has exactly one valid traceparent. Otherwise the trace
     * keeps its new ids. Call directly after {@link #begin}.
     *
     * @param fields the fields of the request; kept until the end of the exchange
     */
    public void continueFrom(FieldSection fields) {
        int line = fields.find(FieldName.TRACEPARENT);
        if (line < 0 || fields.next(FieldName.TRACEPARENT, line) >= 0) {
            return;
        }
        byte[] bytes = fields.bytes();
        int from = fields.valueStart(line);
        if (!TraceParent.isValid(bytes, from, fields.valueEnd(line))) {
            return;
        }
        traceHigh = TraceParent.traceHigh(bytes, from);
        traceLow = TraceParent.traceLow(bytes, from);
        parentId = TraceParent.parent(bytes, from);
        isSampled = TraceParent.isSampled(bytes, from);
        isExported = isSampled;
        continuedFields = fields;
    }

    /** Returns true if this trace continues the trace of a trusted client. Its tracestate is then forwarded. */
    public boolean isContinued() {
        return continuedFields != null;
    }

    /** Returns true if the request was sampled at its start. Origins receive this flag. Callable by any thread. */
    public boolean isSampled() {
        return isSampled;
    }

    /** The first half of the trace id. */
    public long traceHigh() {
        return traceHigh;
    }

    /** The second half of the trace id. */
    public long traceLow() {
        return traceLow;
    }

    /** The id of the request's span. */
    public long spanId() {
        return spanId;
    }

    LoopTraces traces() {
        return traces;
    }

    /** Adds the trace id to a record of a log. */
    public void addId(AccessLogRecord record) {
        TraceParent.hex(traceHigh, idDigits, 0);
        TraceParent.hex(traceLow, idDigits, HALF_ID_DIGITS);
        record.text(LogField.TRACE_ID, idDigits, 0, ID_DIGITS);
    }

    /** Links this trace to the origin request of another exchange whose response answers this request. */
    public void linkTo(ClientSpan fetch) {
        linkTraceHigh = fetch.traceHigh();
        linkTraceLow = fetch.traceLow();
        linkSpanId = fetch.spanId();
    }

    /** Exports the spans of this trace even if it was not sampled, because a sampled request's span links to one. */
    public void export() {
        if (isExported) {
            return;
        }
        isExported = true;
        for (ClientSpan span : waiting) {
            span.write();
        }
        waiting.clear();
    }

    /** Writes the span of a finished origin request, or keeps the span until the end of the exchange. */
    void ended(ClientSpan span) {
        if (isExported) {
            span.write();
        } else if (!hasEnded && waiting.size() < LoopTraces.WAITING_MAX) {
            waiting.add(span);
        } else if (!hasEnded) {
            traces.countLost();
        }
    }

    /**
     * Ends the request. Returns the ring for its record if the request is exported; null if it is not.
     *
     * @param isFailed whether the request failed
     * @param firstByteNanos time to the first byte of the response; 0 if it was not measured
     */
    public @Nullable AccessLogRing end(boolean isFailed, long firstByteNanos) {
        long slowNanos = sampling.slowNanos();
        if (isFailed || (slowNanos > 0 && firstByteNanos >= slowNanos)) {
            export();
        }
        hasEnded = true;
        waiting.clear();
        return isExported ? traces.ring() : null;
    }

    /**
     * Adds the ids to the record of the request's span.
     *
     * @param startNanos start of the request, as {@link System#nanoTime}
     * @param rule index of the remap rule; -1 for none
     */
    public void addSpan(AccessLogRecord record, long startNanos, int rule) {
        SpanIds.write(record, isSampled ? SpanIds.SAMPLED : 0, startNanos, traceHigh, traceLow, spanId, parentId, rule);
        SpanIds.writeLink(record, linkTraceHigh, linkTraceLow, linkSpanId);
        FieldSection from = continuedFields;
        int line = from == null ? -1 : from.find(FieldName.TRACESTATE);
        if (from != null && line >= 0) {
            int length = from.valueEnd(line) - from.valueStart(line);
            record.text(LogField.TRACE_STATE, from.bytes(), from.valueStart(line), length);
        }
    }
}
