package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.observe.trace.Span;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the spans of requests, and the fields traceparent and tracestate for origins. */
class TracesTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String PARENT = "00f067aa0ba902b7";
    private static final String STORED = "Cache-Control: max-age=60\r\n";

    private final CollectedSpans spans = new CollectedSpans();

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().spans(spans);

    @TempDir
    Path directory;

    private final CountDownLatch go = new CountDownLatch(1);
    private final List<RawOrigin> origins = new ArrayList<>();

    @AfterEach
    void closeOrigins() throws IOException {
        go.countDown();
        for (RawOrigin origin : origins) {
            origin.close();
        }
    }

    private void start(String sample, UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                this::answer,
                config -> more.apply(config.set("traces.endpoint", "http://127.0.0.1:1")
                        .set("traces.sample", sample)
                        .set("traces.slow_threshold", "0s")));
    }

    private void answer(RawOrigin.Exchange request) throws Exception {
        if (request.has(" /wait")) {
            go.await();
        }
        if (request.has(" /error")) {
            request.send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n");
        } else if (request.has(" /reset")) {
            request.reset();
        } else if (request.has(" /echo")) {
            request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head()));
        } else {
            request.ok(STORED, RawInput.latin1("content"));
        }
    }

    private static String parent(String flags) {
        return "traceparent: 00-" + TRACE + "-" + PARENT + "-" + flags + "\r\n";
    }

    private static ProxyConfig.Builder trusting(ProxyConfig.Builder config) {
        return config.set("access.trusted_proxies", "127.0.0.1");
    }

    /** Returns the traceparent that the origin received. */
    private static String received(RawClient.Response echo) {
        return RawClient.field(echo.text(), "traceparent");
    }

    /** The exemplars of histograms name exported traces. The Prometheus text has none. */
    @Test
    void aTracedRequestIsAnExemplarOfItsDuration() throws Exception {
        start("100%", config -> config);
        proxy.get("/a");
        Span miss = spans.server("/a");
        proxy.get("/a");
        String exemplar = "# {span_id=\"" + miss.spanId() + "\",trace_id=\"" + miss.traceId() + "\"}";
        String open = proxy.proxy().metrics().openMetricsText();
        assertTrue(
                open.lines()
                        .anyMatch(line -> line.startsWith("millrace_request_duration_seconds_bucket")
                                && line.contains("served_from=\"origin\"")
                                && line.contains(exemplar)),
                open);
        assertTrue(
                open.lines()
                        .anyMatch(line -> line.startsWith("millrace_request_duration_seconds_bucket")
                                && line.contains("served_from=\"cache\"")
                                && line.contains("trace_id")),
                open);
        assertTrue(open.endsWith("# EOF\n"), open);
        // Prometheus refuses them elsewhere.
        assertTrue(
                open.lines().filter(line -> line.contains("trace_id")).allMatch(line -> line.contains("_bucket{")),
                open);
        assertFalse(proxy.proxy().metrics().prometheusText().contains("trace_id"));
    }

    @Test
    void aRequestThatIsNotExportedIsNoExemplar() throws Exception {
        start("0%", config -> config);
        proxy.get("/a");
        proxy.settle();
        assertFalse(proxy.proxy().metrics().openMetricsText().contains("trace_id"));
    }

    @Test
    void aMissHasASpanAndASpanOfItsRequestToTheOrigin() throws Exception {
        start("100%", config -> config);
        proxy.get("/a?secret=1", "User-Agent: test\r\n");
        Span server = spans.server("/a");
        Span client = spans.below(server);
        assertEquals("GET", server.name());
        assertNull(server.parentId());
        assertEquals(32, server.traceId().length());
        assertEquals(server.traceId(), client.traceId());
        assertNotEquals(server.spanId(), client.spanId());
        assertTrue(server.isSampled());
        assertFalse(server.isError());
        assertNull(server.link());
        Map<String, Object> expected = Map.ofEntries(
                Map.entry("http.request.method", "GET"),
                Map.entry("url.scheme", "http"),
                Map.entry("url.path", "/a"),
                Map.entry("server.address", "test.example"),
                Map.entry("server.port", 80L),
                Map.entry("network.protocol.version", "1.1"),
                Map.entry("user_agent.original", "test"),
                Map.entry("http.response.status_code", 200L),
                Map.entry("millrace.cache.result", "uri-miss"),
                Map.entry("millrace.rule", "remap[0]"));
        assertEquals(expected, server.attributes());
        Map<String, Object> ofClient = Map.of(
                "http.request.method",
                "GET",
                "url.full",
                proxy.origin().url() + "/a",
                "server.address",
                "127.0.0.1",
                "server.port",
                (long) proxy.origin().port(),
                "network.protocol.version",
                "1.1",
                "http.response.status_code",
                200L);
        assertEquals(ofClient, client.attributes());
        assertEquals(Span.Kind.CLIENT, client.kind());
        assertTrue(server.startEpochNanos() <= client.startEpochNanos());
        assertTrue(client.startEpochNanos() < client.endEpochNanos());
        long age = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - server.startEpochNanos();
        assertTrue(age > -TimeUnit.MINUTES.toNanos(1) && age < TimeUnit.HOURS.toNanos(1), () -> "age " + age);
    }

    @Test
    void aHitHasOneSpanWithItsTier() throws Exception {
        start("100%", config -> config.set("traces.query", "true"));
        proxy.getAndSettle("/a?x");
        proxy.get("/a?x");
        Span hit = spans.one("the hit", span -> "hit".equals(span.attributes().get("millrace.cache.result")));
        assertEquals("ram", hit.attributes().get("millrace.cache.tier"));
        assertEquals("x", hit.attributes().get("url.query"));
        assertEquals(3, spans.all().size());
    }

    @Test
    void nothingIsExportedWithoutASample() throws Exception {
        start("0%", config -> config);
        proxy.getAndSettle("/a");
        proxy.get("/a");
        proxy.get("/error");
        spans.server("/error");
        // The rings are read in order, so the earlier requests have no spans.
        assertEquals(2, spans.all().size(), () -> spans.all().toString());
    }

    @Test
    void aFailedRequestIsExportedWithItsTryAlthoughItIsNotSampled() throws Exception {
        start("0%", config -> config);
        assertEquals(502, proxy.get("/reset").status());
        Span server = spans.server("/reset");
        Span client = spans.below(server);
        assertTrue(server.isError());
        assertFalse(server.isSampled());
        assertEquals("502", server.attributes().get("error.type"));
        assertTrue(client.isError());
        assertFalse(client.attributes().containsKey("http.response.status_code"));
        assertEquals(
                server.attributes().get("millrace.detail"), client.attributes().get("error.type"));
    }

    @Test
    void aSlowRequestIsExportedAlthoughItIsNotSampled() throws Exception {
        start("0%", config -> config.set("traces.slow_threshold", "1ms"));
        RawClient client = proxy.client().get("/wait");
        ProxyExtension.await("the request at the origin", () -> proxy.origin().requests() == 1);
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2);
        ProxyExtension.await("2 ms", () -> System.nanoTime() > until);
        go.countDown();
        assertEquals(200, client.response().status());
        assertFalse(spans.server("/wait").isError());
    }

    @Test
    void theTraceOfATrustedProxyIsContinued() throws Exception {
        start("0%", TracesTest::trusting);
        String sent = received(proxy.get("/echo", parent("01"), "tracestate: a=1,b=2\r\n"));
        Span server = spans.server("/echo");
        assertEquals(TRACE, server.traceId());
        assertEquals(PARENT, server.parentId());
        assertEquals("a=1,b=2", server.traceState());
        assertTrue(server.isSampled());
        Span client = spans.below(server);
        assertEquals("00-" + TRACE + "-" + client.spanId() + "-01", sent);
    }

    @Test
    void theFlagOfATrustedProxyDecides() throws Exception {
        start("100%", TracesTest::trusting);
        String sent = received(proxy.get("/echo/1", parent("00"), "tracestate: a=1\r\n"));
        assertTrue(sent.matches("00-" + TRACE + "-[0-9a-f]{16}-00"), sent);
        proxy.get("/echo/2");
        spans.server("/echo/2");
        assertEquals(2, spans.all().size(), () -> spans.all().toString());
    }

    @Test
    void aHitContinuesTheTraceOfATrustedProxy() throws Exception {
        start("0%", TracesTest::trusting);
        proxy.getAndSettle("/a");
        proxy.get("/a", parent("01"));
        Span hit = spans.server("/a");
        assertEquals(TRACE, hit.traceId());
        assertEquals(PARENT, hit.parentId());
        assertEquals("hit", hit.attributes().get("millrace.cache.result"));
    }

    @Test
    void theTraceOfAnUntrustedClientIsReplaced() throws Exception {
        start("100%", config -> config);
        String echo = proxy.get("/echo", parent("00"), "tracestate: a=1\r\n").text();
        Span server = spans.server("/echo");
        assertNotEquals(TRACE, server.traceId());
        assertNull(server.parentId());
        assertNull(RawClient.field(echo, "tracestate"));
        assertEquals(
                "00-" + server.traceId() + "-" + spans.below(server).spanId() + "-01",
                RawClient.field(echo, "traceparent"));
        assertEquals(1, echo.split("traceparent:", -1).length - 1, echo);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "00-" + TRACE + "-" + PARENT,
                "00-" + TRACE + "-0000000000000000-01",
                "00-00000000000000000000000000000000-" + PARENT + "-01",
                "ff-" + TRACE + "-" + PARENT + "-01",
                "00-4BF92f3577b34da6a3ce929d0e0e4736-" + PARENT + "-01",
                "00-" + TRACE + "-" + PARENT + "-01-more",
                "x",
                "00-" + TRACE + "-" + PARENT + "-01\r\ntraceparent: 00-" + TRACE + "-" + PARENT + "-01"
            })
    void anInvalidParentBeginsANewTrace(String value) throws Exception {
        start("100%", TracesTest::trusting);
        String echo = proxy.get("/echo", "traceparent: " + value + "\r\n", "tracestate: a=1\r\n")
                .text();
        Span server = spans.server("/echo");
        assertNotEquals(TRACE, server.traceId());
        assertNull(server.parentId());
        assertNull(RawClient.field(echo, "tracestate"));
        assertTrue(RawClient.field(echo, "traceparent").contains(server.traceId()));
    }

    @Test
    void withoutTracesTheFieldsAreForwardedUnchanged() throws Exception {
        proxy.start(this::answer);
        RawClient.Response echo = proxy.get("/echo", parent("01"), "tracestate: a=1\r\n");
        assertEquals("00-" + TRACE + "-" + PARENT + "-01", received(echo));
        assertEquals("a=1", RawClient.field(echo.text(), "tracestate"));
        assertEquals(0, spans.open());
    }

    @Test
    void aFollowerIsLinkedToTheFetchThatAnswersIt() throws Exception {
        start("0%", config -> trusting(config).set("worker.event_loops", "2"));
        RawClient leader = proxy.client().get("/wait");
        ProxyExtension.await("the request at the origin", () -> proxy.origin().requests() == 1);
        List<RawClient> followers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            followers.add(proxy.client().get("/wait", parent("01")));
        }
        proxy.awaitFollowers(4);
        go.countDown();
        for (RawClient follower : followers) {
            assertEquals("content", follower.response().text());
        }
        assertEquals("content", leader.response().text());
        ProxyExtension.await("all spans", () -> spans.all().size() == 6);
        // The leader was not sampled; its spans are exported for the followers.
        Span first = spans.one("the leader", span -> span.kind() == Span.Kind.SERVER && span.link() == null);
        Span fetch = spans.below(first);
        assertFalse(first.isSampled());
        for (Span follower : spans.all()) {
            if (follower.kind() == Span.Kind.SERVER && !follower.equals(first)) {
                assertEquals(new Span.Link(fetch.traceId(), fetch.spanId()), follower.link());
                assertEquals(TRACE, follower.traceId());
                assertEquals(true, follower.attributes().get("millrace.cache.collapsed"));
            }
        }
    }

    @Test
    void eachTryAtAnOriginHasASpan() throws Exception {
        RawOrigin bad = new RawOrigin(request -> request.send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"));
        RawOrigin good = new RawOrigin(request -> request.ok(STORED, RawInput.latin1("good")));
        origins.add(bad);
        origins.add(good);
        proxy.withoutRules();
        start(
                "100%",
                config -> config.origins(
                                "shop",
                                ConfigValues.builder()
                                        .set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.FIRST_LIVE)
                                        .build(),
                                List.of(bad.url(), good.url()))
                        .rule(
                                RemapVerb.MAP,
                                "/",
                                "http://shop.internal/",
                                ConfigValues.builder()
                                        .set(RemapKeys.ORIGINS, "shop")
                                        .build()));
        assertEquals("good", proxy.get("/a").text());
        Span server = spans.server("/a");
        ProxyExtension.await("both tries", () -> spans.all().size() == 3);
        Span first = spans.one("the first try", span -> Long.valueOf(503)
                .equals(span.attributes().get("http.response.status_code")));
        Span second = spans.one("the second try", span -> Long.valueOf(1)
                .equals(span.attributes().get("http.request.resend_count")));
        assertEquals(server.spanId(), first.parentId());
        assertEquals(server.spanId(), second.parentId());
        assertTrue(first.isError());
        assertEquals("503", first.attributes().get("error.type"));
        assertFalse(server.isError());
        assertEquals((long) good.port(), second.attributes().get("server.port"));
    }

    @Test
    void anInvalidRequestIsExportedIfItIsSampled() throws Exception {
        start("100%", config -> config);
        proxy.client().send("GET / HTTP/1.1\r\n\r\n").response();
        Span span = spans.one("the span", any -> true);
        assertEquals(400L, span.attributes().get("http.response.status_code"));
        assertFalse(span.isError());
    }

    @Test
    void theAccessLogHasTheTraceId() throws Exception {
        Path log = directory.resolve("access.log");
        start(
                "100%",
                config -> config.set("log.access.enabled", "true")
                        .set("log.access.path", log.toString())
                        .set("log.access.format", "%<trace_id>"));
        proxy.getAndSettle("/a");
        String miss = spans.server("/a").traceId();
        ProxyExtension.await("the line", () -> lines(log).equals(List.of(miss)));
        proxy.get("/a");
        Span hit = spans.one("the hit", span -> "hit".equals(span.attributes().get("millrace.cache.result")));
        ProxyExtension.await("both lines", () -> lines(log).equals(List.of(miss, hit.traceId())));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.exists(file) ? Files.readAllLines(file, StandardCharsets.US_ASCII) : List.of();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void spansInTheRingReachTheReceiverAtTheEnd() throws Exception {
        start("100%", config -> config);
        proxy.getAndSettle("/a");
        proxy.proxy().close();
        assertEquals(2, spans.all().size());
        assertEquals(0, spans.open());
    }

    @Test
    void aReloadEndsTheTraces() throws Exception {
        start("100%", config -> config);
        proxy.getAndSettle("/a");
        proxy.reload(config -> config);
        ProxyExtension.await("the end", () -> spans.open() == 0);
        proxy.get("/b");
        assertEquals(2, spans.all().size());
        assertTrue(
                proxy.proxy()
                        .metricsText()
                        .contains("millrace_traces_spans_total{application=\"millrace\",result=\"exported\"} 2"),
                () -> proxy.proxy().metricsText());
    }
}
