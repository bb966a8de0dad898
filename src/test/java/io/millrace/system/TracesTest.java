package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.worker.traces.FakeCollector;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Traces of the packed product: at a collector of the test, and at a real one. */
@Tag("nightly")
class TracesTest {
    private static final Duration WITHIN = Duration.ofSeconds(60);

    /** The program of {@code src/test/collector}. */
    private static final String COLLECTOR = "otelcol-test";

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @TempDir
    Path directory;

    private static MillraceProcess start(String endpoint) throws IOException {
        origin.serves("/a", "content", "Cache-Control: max-age=600");
        return product.launch()
                .origin(origin.url())
                .set("traces.endpoint", endpoint)
                .set("traces.sample", "100%")
                .start();
    }

    private static String path(Span span) {
        return FakeCollector.attribute(span.getAttributesList(), "url.path");
    }

    /** The requests of the warm-up have no spans; both workers export theirs, also those of their last moments. */
    @Test
    void eachWorkerExportsTheSpansOfClientsOnly() throws Exception {
        try (FakeCollector collector = new FakeCollector(null)) {
            MillraceProcess proxy = start(collector.url("127.0.0.1"));
            RawClient.fetch(proxy.port(), "/a");
            RawClient.fetch(proxy.port(), "/a?2");
            proxy.millctl("server", "restart").succeeds();
            RawClient.fetch(proxy.port(), "/a?3");
            await("all spans of clients").atMost(WITHIN).until(() -> servers(collector) >= 3);
            await("all spans of origins")
                    .atMost(WITHIN)
                    .until(() -> collector.spans().size() >= 6);
            assertEquals(3, servers(collector), () -> collector.spans().toString());
            List<String> paths = collector.spans().stream()
                    .filter(span -> span.getKind() == Span.SpanKind.SPAN_KIND_SERVER)
                    .map(TracesTest::path)
                    .distinct()
                    .toList();
            assertEquals(List.of("/a"), paths);
            assertEquals(6, collector.spans().size(), () -> collector.spans().toString());
        }
    }

    private static long servers(FakeCollector collector) {
        return collector.spans().stream()
                .filter(span -> span.getKind() == Span.SpanKind.SPAN_KIND_SERVER)
                .count();
    }

    /** A real OpenTelemetry collector decodes the spans and prints them. */
    @Test
    void aRealCollectorReceivesTheSpans() throws Exception {
        Path built = Path.of(System.getProperty("user.home"), "go", "bin", COLLECTOR);
        Assumptions.assumeTrue(
                Files.isExecutable(built) || Command.isInstalled(COLLECTOR),
                "SKIPPED: otelcol-test is not installed; 'go install' in src/test/collector builds it");
        int port = PackedProduct.freePort();
        Path log = directory.resolve("collector.log");
        Path config = Files.writeString(directory.resolve("collector.yaml"), """
                receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:%d"}}}}
                exporters: {debug: {verbosity: detailed}}
                service:
                  pipelines: {traces: {receivers: [otlp], exporters: [debug]}}
                """.formatted(port));
        Process collector = new ProcessBuilder(
                        Files.isExecutable(built) ? built.toString() : COLLECTOR, "--config", config.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            MillraceProcess proxy = start("http://127.0.0.1:" + port);
            RawClient.fetch(proxy.port(), "/a");
            await("both spans").atMost(WITHIN).untilAsserted(() -> {
                String text = Files.readString(log);
                assertTrue(text.contains("Kind           : Server"), text);
                assertTrue(text.contains("Kind           : Client"), text);
                assertTrue(text.contains("millrace.cache.result: Str(uri-miss)"), text);
                assertTrue(text.contains("service.name: Str(millrace)"), text);
            });
        } finally {
            collector.destroy();
            collector.waitFor(10, TimeUnit.SECONDS);
            collector.destroyForcibly();
        }
    }
}
