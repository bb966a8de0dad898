package io.millrace.proxy.observe.trace;

import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogField;
import org.jspecify.annotations.Nullable;

/**
 * The trace span of one request to an origin, until the end of the response.
 *
 * <p>Confined to the event loop of its trace. Other threads may read the ids.
 */
public final class ClientSpan {
    private static final String CANCELLED = "cancelled";
    private static final int ERROR_STATUS_MIN = 400;

    private final ExchangeTrace trace;
    private final long traceHigh;
    private final long traceLow;
    private final long spanId;
    private final int repetitions;
    private final String method;
    private final boolean isSecure;
    private final String authority;
    private final byte[] target;
    private final long startNanos = System.nanoTime();
    private int status;
    private int version = -1;
    private long durationNanos;
    private @Nullable String failure;
    private boolean hasEnded;

    /**
     * Begins the span of a request.
     *
     * @param repetitions number of earlier requests to other hosts for the same response
     * @param authority host and port of the origin; the port only if it is not the default
     * @param target path and query; not copied, so the caller must not modify it
     */
    public ClientSpan(
            ExchangeTrace trace, int repetitions, String method, boolean isSecure, String authority, byte[] target) {
        this.trace = trace;
        this.traceHigh = trace.traceHigh();
        this.traceLow = trace.traceLow();
        this.spanId = trace.traces().nextId();
        this.repetitions = repetitions;
        this.method = method;
        this.isSecure = isSecure;
        this.authority = authority;
        this.target = target;
    }

    /** Returns the field traceparent for the origin. */
    public String parentField() {
        return TraceParent.text(traceHigh, traceLow, spanId, trace.isSampled());
    }

    /** Returns the trace to which this request belongs. */
    public ExchangeTrace trace() {
        return trace;
    }

    long traceHigh() {
        return traceHigh;
    }

    long traceLow() {
        return traceLow;
    }

    long spanId() {
        return spanId;
    }

    /**
     * Records the head of the response.
     *
     * @param ofVersion 2 for HTTP/2; 0 for HTTP/1.0, 1 for HTTP/1.1
     */
    public void answered(int withStatus, int ofVersion) {
        status = withStatus;
        version = ofVersion;
    }

    /**
     * Ends the request; only the first call has an effect.
     *
     * @param reason the name of the failure in logs; null if no failure ended it
     */
    public void end(@Nullable String reason) {
        if (!hasEnded) {
            hasEnded = true;
            failure = reason;
            durationNanos = System.nanoTime() - startNanos;
            trace.ended(this);
        }
    }

    /**
     * Ends the request, because its response or the rest of it is not needed. The span is marked as cancelled, except
     * after a status of 400 or above: that status is reported as the error.
     */
    public void cancel() {
        end(status >= ERROR_STATUS_MIN ? null : CANCELLED);
    }

    /** Writes the record of this request. */
    void write() {
        AccessLogRing ring = trace.traces().ring();
        AccessLogRecord record = ring == null ? null : ring.claim();
        if (ring == null || record == null) {
            return;
        }
        record.durationNanos(durationNanos).originStatus(status).text(LogField.METHOD, method);
        if (version >= 0) {
            record.originVersion(version == 2 ? 2 : 1, version == 2 ? 0 : version);
        }
        record.open(LogField.URL).append(isSecure ? "https://" : "http://").append(authority);
        record.append(target, 0, target.length);
        record.text(LogField.DETAIL, failure);
        long flags = SpanIds.CLIENT | (trace.isSampled() ? SpanIds.SAMPLED : 0);
        SpanIds.write(record, flags, startNanos, traceHigh, traceLow, spanId, trace.spanId(), repetitions);
        SpanIds.writeLink(record, 0, 0, 0);
        ring.publish();
    }
}
