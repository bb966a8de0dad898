package io.millrace.proxy.observe.trace;

import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LogOutcome;
import io.millrace.proxy.observe.log.LoggedRecord;

/**
 * A view of a finished span in the ring of an event loop. It is valid during {@link SpanSink#accept} and allocates
 * nothing for a hit, except in {@link #copy}. Confined to one thread.
 */
public final class SpanView {
    private static final int CLIENT_ERROR_MIN = 400;
    private static final int SERVER_ERROR_MIN = 500;
    private static final byte[] RULE_PREFIX = SpanTexts.bytes("remap[");
    private static final int NUMBER_DIGITS = 20;

    private final boolean showsQuery;
    private final SpanUrl url = new SpanUrl();
    private final byte[] scratch = new byte[RULE_PREFIX.length + NUMBER_DIGITS];
    private LoggedRecord logged = LoggedRecord.empty();
    private long epochNanosOfZero;

    SpanView(boolean showsQuery) {
        this.showsQuery = showsQuery;
    }

    /**
     * Shows another record.
     *
     * @param zero the time at which {@link System#nanoTime} was 0, in nanoseconds since 1970
     */
    SpanView show(LoggedRecord another, long zero) {
        logged = another;
        epochNanosOfZero = zero;
        return this;
    }

    /** Returns a copy that stays valid. */
    public Span copy() {
        SpanCopy copy = new SpanCopy();
        writeTo(copy);
        return copy.span();
    }

    /** Passes all parts of the span to a writer. */
    public void writeTo(SpanWriter to) {
        long flags = SpanIds.read(logged, SpanIds.FLAGS);
        boolean isClient = (flags & SpanIds.CLIENT) != 0;
        to.begin(
                SpanIds.read(logged, SpanIds.TRACE_HIGH),
                SpanIds.read(logged, SpanIds.TRACE_LOW),
                SpanIds.read(logged, SpanIds.SPAN_ID));
        traceState(to);
        long parent = SpanIds.read(logged, SpanIds.PARENT_ID);
        if (parent != 0) {
            to.parent(parent);
        }
        byte[] method = SpanTexts.method(logged);
        long start = epochNanosOfZero + SpanIds.read(logged, SpanIds.START);
        to.request(
                method == null ? SpanTexts.OTHER_NAME : method,
                isClient ? Span.Kind.CLIENT : Span.Kind.SERVER,
                start,
                start + logged.durationNanos());
        if (method == null) {
            to.constant(SpanAttribute.METHOD, SpanTexts.OTHER_METHOD);
            text(to, SpanAttribute.METHOD_ORIGINAL, LogField.METHOD);
        } else {
            to.constant(SpanAttribute.METHOD, method);
        }
        boolean isError = isClient ? client(to) : server(to);
        long linked = SpanIds.read(logged, SpanIds.LINK_SPAN_ID);
        if (linked != 0) {
            to.link(
                    SpanIds.read(logged, SpanIds.LINK_TRACE_HIGH),
                    SpanIds.read(logged, SpanIds.LINK_TRACE_LOW),
                    linked);
        }
        to.end((flags & SpanIds.SAMPLED) != 0, isError);
    }

    /** Passes the trace state on, without a last member that was truncated. */
    private void traceState(SpanWriter to) {
        int from = logged.textStart(LogField.TRACE_STATE);
        int length = logged.textLength(LogField.TRACE_STATE);
        if (length > 0 && logged.isTruncated(LogField.TRACE_STATE)) {
            do {
                length--;
            } while (length > 0 && logged.bytes()[from + length] != ',');
        }
        if (length > 0) {
            to.traceState(logged.bytes(), from, length);
        }
    }

    private boolean server(SpanWriter to) {
        if (parseUrl()) {
            byte[] bytes = logged.bytes();
            to.constant(SpanAttribute.URL_SCHEME, url.isSecure() ? SpanTexts.HTTPS : SpanTexts.HTTP);
            to.attribute(SpanAttribute.URL_PATH, bytes, url.pathStart(), url.pathEnd() - url.pathStart());
            if (showsQuery && url.hasQuery()) {
                to.attribute(SpanAttribute.URL_QUERY, bytes, url.queryStart(), url.end() - url.queryStart());
            }
            address(to);
        }
        protocol(to, logged.majorVersion(), logged.minorVersion());
        text(to, SpanAttribute.USER_AGENT, LogField.USER_AGENT);
        int status = logged.status();
        if (status > 0) {
            to.attribute(SpanAttribute.STATUS, status);
        }
        cache(to);
        text(to, SpanAttribute.DETAIL, LogField.DETAIL);
        LogOutcome outcome = logged.outcome();
        if (status >= SERVER_ERROR_MIN) {
            status(to, status);
            return true;
        }
        if (outcome.isFailure()) {
            byte[] code = SpanTexts.bytes(outcome.squidCode());
            to.attribute(SpanAttribute.ERROR_TYPE, code, 0, code.length);
            return true;
        }
        return false;
    }

    private void cache(SpanWriter to) {
        CacheResult result = logged.cacheResult();
        if (result != CacheResult.NONE) {
            to.constant(SpanAttribute.CACHE_RESULT, SpanTexts.of(result));
        }
        if (result == CacheResult.HIT || result == CacheResult.STALE || result == CacheResult.REVALIDATED) {
            to.constant(SpanAttribute.CACHE_TIER, logged.isFromRam() ? SpanTexts.RAM : SpanTexts.DISK);
        }
        if (logged.isCollapsed()) {
            to.attribute(SpanAttribute.CACHE_COLLAPSED);
        }
        text(to, SpanAttribute.CACHE_RULES, LogField.CACHE_RULES);
        // In the record of a client's request, the number is the index of the rule.
        long rule = SpanIds.read(logged, SpanIds.NUMBER);
        if (rule >= 0) {
            System.arraycopy(RULE_PREFIX, 0, scratch, 0, RULE_PREFIX.length);
            int end = decimal(rule, RULE_PREFIX.length);
            scratch[end] = ']';
            to.attribute(SpanAttribute.RULE, scratch, 0, end + 1);
        }
    }

    private boolean client(SpanWriter to) {
        if (parseUrl()) {
            int from = logged.textStart(LogField.URL);
            to.attribute(SpanAttribute.URL_FULL, logged.bytes(), from, (showsQuery ? url.end() : url.pathEnd()) - from);
            address(to);
        }
        protocol(to, logged.originMajorVersion(), logged.originMinorVersion());
        int status = logged.originStatus();
        if (status > 0) {
            to.attribute(SpanAttribute.STATUS, status);
        }
        // In the record of a request to an origin, the number counts its repetitions.
        long repetitions = SpanIds.read(logged, SpanIds.NUMBER);
        if (repetitions > 0) {
            to.attribute(SpanAttribute.RESEND_COUNT, repetitions);
        }
        if (logged.textLength(LogField.DETAIL) > 0) {
            text(to, SpanAttribute.ERROR_TYPE, LogField.DETAIL);
            return true;
        }
        if (status >= CLIENT_ERROR_MIN) {
            status(to, status);
            return true;
        }
        return false;
    }

    private boolean parseUrl() {
        int length = logged.textLength(LogField.URL);
        if (length <= 0) {
            return false;
        }
        int from = logged.textStart(LogField.URL);
        url.parse(logged.bytes(), from, from + length);
        return true;
    }

    private void address(SpanWriter to) {
        to.attribute(SpanAttribute.SERVER_ADDRESS, logged.bytes(), url.hostStart(), url.hostEnd() - url.hostStart());
        to.attribute(SpanAttribute.SERVER_PORT, url.port());
    }

    private static void protocol(SpanWriter to, int major, int minor) {
        if (major > 0) {
            to.constant(SpanAttribute.PROTOCOL_VERSION, SpanTexts.version(major, minor));
        }
    }

    private void status(SpanWriter to, int status) {
        to.attribute(SpanAttribute.ERROR_TYPE, scratch, 0, decimal(status, 0));
    }

    /** Writes a number of at least 0 to the scratch array. Returns the end of its digits. */
    private int decimal(long number, int from) {
        int digits = 1;
        for (long rest = number; rest >= 10; rest /= 10) {
            digits++;
        }
        long rest = number;
        for (int i = from + digits - 1; i >= from; i--) {
            scratch[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return from + digits;
    }

    private void text(SpanWriter to, SpanAttribute name, LogField field) {
        int length = logged.textLength(field);
        if (length > 0) {
            to.attribute(name, logged.bytes(), logged.textStart(field), length);
        }
    }
}
