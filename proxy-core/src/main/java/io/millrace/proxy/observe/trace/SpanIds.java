package io.millrace.proxy.observe.trace;

import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LoggedRecord;

/**
 * The encoding of the field {@link LogField#SPAN} of an access log record: ten 64-bit numbers. Stateless.
 *
 * <pre>
 *   flags | start, as System.nanoTime | trace id, high | trace id, low | span id | parent id
 *   number | trace id of the linked span, high | trace id of the linked span, low | span id of the linked span
 *
 *   number  of a client's request: index of the rule, negative for none
 *           of a request to an origin: how often the request was repeated
 * </pre>
 */
final class SpanIds {
    /** Flag of a request to an origin. */
    static final long CLIENT = 1;
    /** Flag of a trace that was sampled at its start. */
    static final long SAMPLED = 2;

    static final int FLAGS = 0;
    static final int START = 1;
    static final int TRACE_HIGH = 2;
    static final int TRACE_LOW = 3;
    static final int SPAN_ID = 4;
    static final int PARENT_ID = 5;
    static final int NUMBER = 6;
    static final int LINK_TRACE_HIGH = 7;
    static final int LINK_TRACE_LOW = 8;
    static final int LINK_SPAN_ID = 9;

    private SpanIds() {}

    /** Writes the field up to the number. The caller must then write the rest with {@link #writeLink}. */
    static void write(
            AccessLogRecord record,
            long flags,
            long startNanos,
            long traceHigh,
            long traceLow,
            long spanId,
            long parentId,
            long number) {
        record.open(LogField.SPAN)
                .appendRaw(flags)
                .appendRaw(startNanos)
                .appendRaw(traceHigh)
                .appendRaw(traceLow)
                .appendRaw(spanId)
                .appendRaw(parentId)
                .appendRaw(number);
    }

    /** Writes the ids of the linked span, which end the field. The span id is 0 if there is no link. */
    static void writeLink(AccessLogRecord record, long traceHigh, long traceLow, long spanId) {
        record.appendRaw(traceHigh).appendRaw(traceLow).appendRaw(spanId);
    }

    /** Returns the number at an index of the field. */
    static long read(LoggedRecord logged, int index) {
        return logged.raw(LogField.SPAN, index);
    }
}
