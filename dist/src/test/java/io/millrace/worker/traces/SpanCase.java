package io.millrace.worker.traces;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LogOutcome;
import io.millrace.proxy.observe.trace.ClientSpan;
import io.millrace.proxy.observe.trace.ExchangeTrace;
import io.millrace.proxy.observe.trace.LoopTraces;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Consumer;

/** Spans of different shapes, for tests of the encoding. */
@SuppressWarnings("ImmutableEnumChecker") // the functions have no state
enum SpanCase {
    BARE(record -> {}, -1),
    HIT(
            record -> record.version(1, 1)
                    .status(200)
                    .cache(CacheResult.HIT)
                    .fromRam()
                    .text(LogField.METHOD, "GET")
                    .text(LogField.URL, "http://www.example.com/a/b.html?q=1")
                    .text(LogField.USER_AGENT, "Mozilla/5.0"),
            0),
    SECURE_WITH_PORT_AND_EMPTY_QUERY(
            record -> record.version(2, 0)
                    .status(304)
                    .cache(CacheResult.STALE)
                    .text(LogField.METHOD, "HEAD")
                    .text(LogField.URL, "https://[2001:db8::1]:8443?"),
            12345),
    OUTSIDE_OF_ASCII(
            record -> record.version(1, 0)
                    .status(200)
                    .text(LogField.METHOD, "F\u00dcR")
                    .text(LogField.URL, "http://a/\u00e9" + "\u00ff".repeat(200))
                    .text(LogField.USER_AGENT, "caf\u00e9"),
            1),
    LONG(
            record -> record.status(200)
                    .text(LogField.METHOD, "POST")
                    .text(LogField.URL, "http://a/" + "\u00e9".repeat(5000))
                    .text(LogField.USER_AGENT, "\u00e9".repeat(600)),
            -1),
    FAILED(
            record -> record.version(1, 1)
                    .status(502)
                    .cache(CacheResult.URI_MISS)
                    .outcome(LogOutcome.CONNECT_FAILED)
                    .collapsed()
                    .text(LogField.METHOD, "GET")
                    .text(LogField.URL, "http://a/")
                    .text(LogField.DETAIL, "connect-refused")
                    .text(LogField.CACHE_RULES, "cache_rules[1]"),
            3),
    INCOMPLETE(
            record -> record.status(200)
                    .outcome(LogOutcome.ORIGIN_READ_FAILED)
                    .text(LogField.METHOD, "GET")
                    .text(LogField.URL, "http://a/"),
            -1);

    private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    private final Consumer<AccessLogRecord> filler;
    private final int rule;

    SpanCase(Consumer<AccessLogRecord> filler, int rule) {
        this.filler = filler;
        this.rule = rule;
    }

    /** A number that differs for each shape. */
    @SuppressWarnings("EnumOrdinal") // nothing depends on the order of the constants
    int number() {
        return ordinal();
    }

    /** Returns a trace state, which is too long for a record for the last shapes. */
    String traceState() {
        return "a=1, b=" + "x".repeat(number() * 100);
    }

    /** Writes one span of a client's request. */
    void write(LoopTraces traces) {
        write(Objects.requireNonNull(traces.newTrace()));
    }

    /** Writes one span of the trace of another proxy. */
    void writeContinued(LoopTraces traces) {
        ExchangeTrace trace = Objects.requireNonNull(traces.newTrace());
        trace.continueFrom(FieldSection.builder()
                .add("traceparent", PARENT)
                .add("tracestate", traceState())
                .build());
        write(trace);
    }

    /** Writes the span of a request to an origin, and the span of another request which links to it. */
    void writeLinked(LoopTraces traces) {
        ExchangeTrace fetching = Objects.requireNonNull(traces.newTrace());
        byte[] target = "/t?q".getBytes(StandardCharsets.US_ASCII);
        ClientSpan fetch = new ClientSpan(fetching, number(), "GET", number() % 2 == 0, "origin:81", target);
        fetch.answered(number() % 2 == 0 ? 404 : 200, 1 + number() % 2);
        fetch.end(this == FAILED ? "reset" : null);
        ExchangeTrace following = Objects.requireNonNull(traces.newTrace());
        following.linkTo(fetch);
        write(following);
    }

    private void write(ExchangeTrace trace) {
        AccessLogRing ring = Objects.requireNonNull(trace.end(false, 0));
        AccessLogRecord record = Objects.requireNonNull(ring.claim());
        filler.accept(record.durationNanos(number()));
        trace.addSpan(record, System.nanoTime(), rule);
        ring.publish();
    }
}
