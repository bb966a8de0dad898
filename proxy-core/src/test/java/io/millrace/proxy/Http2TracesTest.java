package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.trace.Span;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the spans of requests over HTTP/2. */
class Http2TracesTest extends Http2Fixture {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

    private final CollectedSpans spans = new CollectedSpans();

    @BeforeEach
    void collect() {
        proxy.spans(spans);
    }

    @Test
    void missAndHitHaveSpansOfTheTrustedTrace() throws Exception {
        start(request -> request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("content")), config -> config.set(
                        "traces.endpoint", "http://127.0.0.1:1")
                .set("traces.sample", "0%")
                .set("access.trusted_proxies", "127.0.0.1"));
        String parent = "00-" + TRACE + "-00f067aa0ba902b7-01";
        Http2Client client = client();
        client.get(1, "/a", "traceparent", parent).response(1);
        Span miss = spans.server("/a");
        assertEquals("2", miss.attributes().get("network.protocol.version"));
        assertEquals(TRACE, miss.traceId());
        assertEquals("1.1", spans.below(miss).attributes().get("network.protocol.version"));
        proxy.settle();
        client.get(3, "/a", "traceparent", parent).response(3);
        Span hit = spans.one("the hit", span -> "hit".equals(span.attributes().get("millrace.cache.result")));
        assertEquals(TRACE, hit.traceId());
        assertEquals("2", hit.attributes().get("network.protocol.version"));
        assertEquals("ram", hit.attributes().get("millrace.cache.tier"));
    }
}
