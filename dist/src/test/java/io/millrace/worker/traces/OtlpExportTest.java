package io.millrace.worker.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.trace.SpanCounts;
import io.millrace.proxy.observe.trace.SpanSink;
import io.millrace.proxy.observe.trace.TraceConfig;
import io.millrace.proxy.tls.TestAuthority;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.function.UnaryOperator;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** Tests the export of spans: from requests of clients to a collector that decodes them. */
class OtlpExportTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String PARENT = "00f067aa0ba902b7";
    /** A span of a hit has more bytes than this. */
    private static final int SPAN_BYTES_MIN = 100;

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir
    Path directory;

    private FakeCollector collector;
    private HttpServer origin;
    private ProxyServer proxy;

    @AfterEach
    void close() {
        if (proxy != null) {
            proxy.close();
        }
        if (origin != null) {
            origin.stop(0);
        }
        if (collector != null) {
            collector.close();
        }
    }

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws Exception {
        collector = collector == null ? new FakeCollector(null) : collector;
        origin = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        origin.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Cache-Control", "max-age=60");
            byte[] content = "content".getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(
                    exchange.getRequestURI().getPath().equals("/error") ? 500 : 200, content.length);
            exchange.getResponseBody().write(content);
            exchange.close();
        });
        origin.start();
        ProxyConfig.Builder config = ProxyConfig.builder()
                .listen("127.0.0.1:0")
                .map("/", "http://127.0.0.1:" + origin.getAddress().getPort())
                .set("cache.ram_size", "32MiB")
                .set("log.access.enabled", "false")
                .set("worker.event_loops", "1")
                .set("traces.endpoint", collector.url("127.0.0.1"))
                .set("traces.sample", "100%");
        proxy = ProxyServer.builder()
                .config(more.apply(config).build())
                .spans(OtlpExport::open)
                .start();
    }

    private void get(String path, String... fields) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + proxy.port() + path))
                .version(HttpClient.Version.HTTP_1_1);
        if (fields.length > 0) {
            request.headers(fields);
        }
        CLIENT.send(request.build(), HttpResponse.BodyHandlers.discarding());
    }

    private Span server(String path) {
        return collector.await(
                "the span of " + path,
                span -> span.getKind() == Span.SpanKind.SPAN_KIND_SERVER
                        && FakeCollector.attribute(span.getAttributesList(), "url.path")
                                .equals(path));
    }

    private static String hex(ByteString id) {
        return HexFormat.of().formatHex(id.toByteArray());
    }

    private boolean hasMetric(String labels, long value) {
        return proxy.metricsText()
                .contains("millrace_traces_spans_total{application=\"millrace\"," + labels + "} " + value);
    }

    @Test
    void missHitAndErrorArriveAtTheCollector() throws Exception {
        start(config -> config.set("access.trusted_proxies", "127.0.0.1").set("traces.service_name", "edge"));
        get("/a", "traceparent", "00-" + TRACE + "-" + PARENT + "-01", "tracestate", "a=1,b=2");
        Span miss = server("/a");
        assertEquals(TRACE, hex(miss.getTraceId()));
        assertEquals(PARENT, hex(miss.getParentSpanId()));
        assertEquals("a=1,b=2", miss.getTraceState());
        assertEquals("GET", miss.getName());
        assertEquals("200", FakeCollector.attribute(miss.getAttributesList(), "http.response.status_code"));
        assertEquals("uri-miss", FakeCollector.attribute(miss.getAttributesList(), "millrace.cache.result"));
        assertTrue(miss.getStartTimeUnixNano() < miss.getEndTimeUnixNano());
        Span fetch = collector.await("the fetch", span -> span.getParentSpanId().equals(miss.getSpanId()));
        assertEquals(Span.SpanKind.SPAN_KIND_CLIENT, fetch.getKind());
        assertEquals(miss.getTraceId(), fetch.getTraceId());
        get("/a");
        collector.await("the hit", span -> FakeCollector.attribute(span.getAttributesList(), "millrace.cache.result")
                .equals("hit"));
        get("/error");
        assertEquals(
                Status.StatusCode.STATUS_CODE_ERROR,
                server("/error").getStatus().getCode());
        assertEquals("edge", FakeCollector.attribute(collector.resource().getAttributesList(), "service.name"));
        assertEquals("/v1/traces", collector.heads().get(0).get(":path"));
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> hasMetric("result=\"exported\"", 5));
    }

    /** The statuses after which OTLP asks to repeat a request. Without Retry-After, the pauses take some seconds. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({"429, 0", "502, 0", "503, 'Fri, 31 Dec 1999 23:59:59 GMT'", "504, 0", "503,"})
    void aBusyCollectorGetsTheSpansLater(int status, @Nullable String retryAfter) throws Exception {
        start(config -> config);
        if (retryAfter != null) {
            collector.retryAfter(retryAfter);
        }
        collector.fail(2, status);
        get("/a");
        server("/a");
        assertTrue(collector.heads().size() >= 3, () -> collector.heads().toString());
        assertTrue(hasMetric("result=\"failed\"", 0), proxy.metricsText());
    }

    @Test
    void spansThatTheCollectorRejectsAreCountedAsFailed() throws Exception {
        start(config -> config);
        collector.reject(1, "too old");
        get("/a");
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> hasMetric("result=\"failed\"", 1));
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> hasMetric("result=\"exported\"", 1));
        assertEquals(1, collector.heads().size(), "requests");
    }

    @Test
    void spansThatTheCollectorRefusesAreCounted() throws Exception {
        start(config -> config);
        collector.fail(1, 400);
        get("/a");
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> hasMetric("result=\"failed\"", 2));
        assertTrue(proxy.metricsText().contains("millrace_traces_up{application=\"millrace\"} 0"), proxy.metricsText());
        get("/b");
        server("/b");
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> proxy.metricsText()
                .contains("millrace_traces_up{application=\"millrace\"} 1"));
    }

    @Test
    void fieldsOfTheFileAreSentAndReadAgain() throws Exception {
        Path file = Files.writeString(directory.resolve("headers"), "# key\n\nAuthorization: Bearer one\nX-Org:  7 \n");
        start(config -> config.set("traces.headers_file", file.toString()));
        get("/a");
        server("/a");
        Map<String, String> head = collector.heads().get(collector.heads().size() - 1);
        assertEquals("Bearer one", head.get("Authorization"));
        assertEquals("7", head.get("X-Org"));
        Files.writeString(file, "Authorization: Bearer second\n");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
        get("/b");
        server("/b");
        assertEquals(
                "Bearer second",
                collector.heads().get(collector.heads().size() - 1).get("Authorization"));
    }

    @Test
    void aCollectorWithTlsIsVerifiedByTheAuthorityOfTheFile() throws Exception {
        TestAuthority authority = new TestAuthority("traces");
        collector = new FakeCollector(context(authority.issue("localhost")));
        Path file = Files.writeString(directory.resolve("ca.pem"), authority.rootPem());
        start(config ->
                config.set("traces.endpoint", collector.url("localhost")).set("traces.tls.ca_file", file.toString()));
        get("/a");
        server("/a");
    }

    static SSLContext context(TestAuthority.Made made) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry(
                "key", made.keys().getPrivate(), new char[0], made.chain().toArray(new Certificate[0]));
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, new char[0]);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return context;
    }

    @Test
    void aFullQueueDropsSpansAndCountsThem() throws Exception {
        // Nothing listens on the port, and the sender tries for seconds.
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        SpanCounts counts = new SpanCounts();
        int all = (OtlpSink.BATCHES_MAX + 3) * OtlpSink.BATCH_BYTES / SPAN_BYTES_MIN;
        SpanSink sink = OtlpExport.open(settings("http://127.0.0.1:" + port, null), counts);
        RecordedSpans.of(trace -> {}).each(span -> {
            for (int i = 0; i < all; i++) {
                sink.accept(span);
            }
        });
        assertTrue(counts.queueFull() > 0, () -> "dropped " + counts.queueFull());
        sink.close();
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> counts.queueFull() + counts.failed() == all);
        assertEquals(0, counts.exported());
    }

    private static TraceConfig settings(String endpoint, Path headers) {
        return new TraceConfig(endpoint, 1, 0, "test", false, TraceConfig.Compression.NONE, headers, null, null, null);
    }

    @Test
    void withoutAnEndpointNothingIsOpened() throws Exception {
        assertNull(OtlpExport.open(settings(null, null), new SpanCounts()));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "secret | the line does not have the format 'Name: value'",
                ": secret | the line does not have the format 'Name: value'",
                "X Org: secret | the line does not have the format 'Name: value'",
                "\u200bX-Org: secret | the line does not have the format 'Name: value'",
                "X-Org:secr\u200bet | the character in column 11 is not allowed; a value has visible ASCII characters,"
                        + " spaces and tabs",
                "X-Org: \u201dsecret\u201d | the character in column 8 is not allowed; a value has visible ASCII"
                        + " characters, spaces and tabs",
                "X: sec\u0001ret | the character in column 7 is not allowed; a value has visible ASCII characters,"
                        + " spaces and tabs",
                "X: secr\u00e9t | the character in column 8 is not allowed; a value has visible ASCII characters,"
                        + " spaces and tabs",
                "Host: secret | Millrace sets the field Host itself; remove the line",
                "content-length: 7 | Millrace sets the field content-length itself; remove the line",
                "Transfer-Encoding: chunked | Millrace sets the field Transfer-Encoding itself; remove the line",
                "a: secret | the field a is already set in line 1; remove one of the lines, names that differ only in case"
                        + " are equal",
                "A: secret | the field A is already set in line 1; remove one of the lines, names that differ only in case"
                        + " are equal",
                "Content-Type: text/plain | Millrace sets the field Content-Type itself; remove the line",
            })
    void anInvalidHeadersFileIsNamedWithItsLineAndWithoutItsValue(String line, String problem) throws Exception {
        Path file = Files.writeString(directory.resolve("headers"), "A: b\td\n" + line + "\r\n");
        IOException thrown = assertThrows(
                IOException.class, () -> OtlpExport.open(settings("http://127.0.0.1:1", file), new SpanCounts()));
        assertEquals(file + ":2: " + problem, thrown.getMessage());
    }

    @Test
    void anInvalidChangeOfTheHeadersFileKeepsTheFields() throws Exception {
        Path file = Files.writeString(directory.resolve("headers"), "Authorization: Bearer one\n");
        FaultLog faults = new FaultLog(LoggerFactory.getLogger(OtlpExportTest.class), 1, System::nanoTime);
        HeadersFile fields = HeadersFile.open(file, faults);
        Files.writeString(file, "Authorization: Bearer second\u200b\n");
        assertEquals(Map.of("Authorization", "Bearer one"), fields.get());
        assertEquals(Map.of("Authorization", "Bearer one"), fields.get());
        assertEquals(1, faults.total());
    }

    @Test
    void anEndpointWithoutAPathGetsThePathOfOtlp() {
        assertEquals("http://c:4318/v1/traces", OtlpClient.withPath("http://c:4318"));
        assertEquals("http://c:4318/v1/traces", OtlpClient.withPath("http://c:4318/"));
        assertEquals("https://c/otlp/v1/traces", OtlpClient.withPath("https://c/otlp/v1/traces"));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"none,", "gzip, gzip"})
    void spansAreCompressedIfTheSettingsSaySo(String compression, @Nullable String coding) throws Exception {
        start(config -> config.set("traces.compression", compression));
        get("/coded");
        server("/coded");
        assertEquals(coding, collector.heads().get(0).get("Content-Encoding"));
    }
}
