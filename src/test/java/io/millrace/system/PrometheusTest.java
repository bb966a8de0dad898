package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.worker.traces.FakeCollector;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The metrics of the packed product in promtool, and its shipped rules in a real Prometheus that scrapes it. */
@Tag("nightly")
class PrometheusTest {
    private static final Duration WITHIN = Duration.ofSeconds(90);
    private static final String TOKEN = "prometheus-token-of-a-test";

    /** A metric of the product in an expression. */
    private static final Pattern METRIC = Pattern.compile("(?<![:\\w])millrace_\\w+");

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    /** The API of a running Prometheus. */
    private record Prometheus(Process process, int port, Path log) implements AutoCloseable {
        private static final HttpClient CLIENT =
                HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

        Json get(String path) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/" + path))
                    .timeout(Duration.ofSeconds(10))
                    .build();
            try {
                HttpResponse<String> answer = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
                return Json.parse(answer.body()).at("data");
            } catch (IOException e) {
                throw new AssertionError("Prometheus does not answer", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        /** Returns the values of an instant query. */
        List<Double> query(String expression) {
            List<Double> values = new ArrayList<>();
            String encoded = URLEncoder.encode(expression, StandardCharsets.UTF_8);
            for (Json each : get("query?query=" + encoded).at("result").elements()) {
                values.add(Double.parseDouble(each.at("value.1").text()));
            }
            return values;
        }

        void awaitAlert(String name) {
            await().atMost(WITHIN)
                    .ignoreExceptions()
                    .untilAsserted(() -> assertEquals(
                            1, query("ALERTS{alertname=\"" + name + "\"}").size(), name));
        }

        @Override
        public void close() {
            process.destroy();
            try {
                if (!process.waitFor(20, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Path configure(Path directory, int port, int admin, String collector) throws IOException {
        Path token = Files.writeString(directory.resolve("token"), TOKEN + "\n");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-r-----"));
        return Files.writeString(directory.resolve("millrace.yaml"), """
                listen: ["127.0.0.1:%d"]
                admin:
                  listen: "127.0.0.1:%d"
                  tokens: [{name: prometheus, file: %s, role: viewer}]
                storage: [{path: %s, size: 64MiB}]
                log:
                  access: [{name: errors, filter: 'status >= 500'}]
                origins: [{name: gone, hosts: ["http://127.0.0.1:1"]}]
                remap:
                  - {map: /gone/, to: "http://gone.example/", origins: gone}
                  - {map: /, to: "%s/"}
                traces: {endpoint: "%s", sample: 100%%}
                """.formatted(
                        port, admin, token, directory.resolve("cache"), origin.url(), collector));
    }

    private static MillraceProcess start(Path directory, int admin, String collector) throws IOException {
        origin.serves("/a", "a response", "Cache-Control: max-age=600");
        int port = PackedProduct.freePort();
        MillraceProcess proxy = product.launch()
                .config(configure(directory, port, admin, collector))
                .listeningByFile(port)
                .start();
        for (int i = 0; i < 10; i++) {
            RawClient.fetch(port, "/a");
        }
        return proxy;
    }

    private static Prometheus prometheus(Path directory, int admin) throws IOException {
        int port = PackedProduct.freePort();
        Path log = directory.resolve("prometheus.log");
        Path config = Files.writeString(
                directory.resolve("prometheus.yaml"), """
                global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
                rule_files: ["%s"]
                scrape_configs:
                  - job_name: millrace
                    authorization: {credentials_file: "%s"}
                    static_configs: [{targets: ["127.0.0.1:%d"]}]
                """.formatted(rules(), directory.resolve("token"), admin));
        Process process = new ProcessBuilder(
                        "prometheus",
                        "--config.file=" + config,
                        "--enable-feature=exemplar-storage",
                        "--storage.tsdb.path=" + directory.resolve("tsdb"),
                        "--web.listen-address=127.0.0.1:" + port)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        return new Prometheus(process, port, log);
    }

    private static Path rules() {
        return product.home().resolve("share/monitoring/prometheus-rules.yaml");
    }

    /** The names of the JVM's metrics are those of Micrometer. Exit code 3 means a bad name or a missing description. */
    @Test
    void promtoolFindsNoFaultInTheMetrics() throws IOException {
        Assumptions.assumeTrue(Command.isInstalled("promtool"), "SKIPPED: promtool is not installed");
        Path directory = product.newDirectory();
        MillraceProcess proxy = start(directory, PackedProduct.freePort(), "http://127.0.0.1:1");
        Path metrics = Files.writeString(
                directory.resolve("metrics"), proxy.admin().get("/metrics").text());
        Command check = Command.run(directory, List.of("sh", "-c", "promtool check metrics <" + metrics));
        assertTrue(check.exitCode() == 0 || check.exitCode() == 3, check::toString);
        List<String> faults = (check.out() + check.err())
                .lines()
                .filter(line -> line.startsWith("millrace_"))
                .toList();
        assertEquals(List.of(), faults, check::toString);
    }

    @Test
    void prometheusScrapesTheProductAndEvaluatesTheShippedRules() throws Exception {
        Assumptions.assumeTrue(Command.isInstalled("prometheus"), "SKIPPED: prometheus is not installed");
        Path directory = product.newDirectory();
        int admin = PackedProduct.freePort();
        try (FakeCollector collector = new FakeCollector(null);
                Prometheus prometheus = prometheus(directory, admin)) {
            MillraceProcess proxy = start(directory, admin, collector.url("127.0.0.1"));
            await().atMost(WITHIN)
                    .ignoreExceptions()
                    .untilAsserted(() -> assertEquals(List.of(1.0), prometheus.query("up{job=\"millrace\"}")));
            await().atMost(WITHIN).ignoreExceptions().untilAsserted(() -> {
                RawClient.fetch(proxy.port(), "/a");
                assertTrue(
                        prometheus
                                        .query("instance:millrace_hit_ratio_requests:rate5m")
                                        .get(0)
                                > 0.5,
                        () -> read(prometheus.log()));
            });
            assertRulesAreHealthy(prometheus);
            assertMetricsOfRulesExist(prometheus);
            assertExemplarsNameExportedTraces(prometheus, collector);
            assertEquals(
                    1,
                    prometheus
                            .query("millrace_host_requests_total{host=\"127.0.0.1\"} >= 10")
                            .size());
            assertEquals(List.of(), prometheus.query("ALERTS{severity=\"critical\", alertstate=\"firing\"}"));
            for (int i = 0; i < 5; i++) {
                RawClient.fetch(proxy.port(), "/gone/x");
            }
            prometheus.awaitAlert("MillraceOriginGroupDown");
            Files.writeString(directory.resolve("millrace.yaml"), "listen: [nonsense]\n");
            proxy.millctl("config", "reload");
            prometheus.awaitAlert("MillraceConfigRejected");
            proxy.killWorker();
            prometheus.awaitAlert("MillraceWorkerDied");
            proxy.terminate();
            prometheus.awaitAlert("MillraceDown");
        }
    }

    private static void assertExemplarsNameExportedTraces(Prometheus prometheus, FakeCollector collector) {
        await().atMost(WITHIN).ignoreExceptions().untilAsserted(() -> {
            long now = System.currentTimeMillis() / 1000;
            Set<String> named = new TreeSet<>();
            for (Json series : prometheus
                    .get("query_exemplars?query=millrace_request_duration_seconds_bucket&start=" + (now - 600) + "&end="
                            + (now + 60))
                    .elements()) {
                for (Json exemplar : series.at("exemplars").elements()) {
                    named.add(exemplar.at("labels.trace_id").text());
                }
            }
            Set<String> exported = new TreeSet<>();
            collector
                    .spans()
                    .forEach(span -> exported.add(
                            HexFormat.of().formatHex(span.getTraceId().toByteArray())));
            assertFalse(named.isEmpty());
            assertTrue(exported.containsAll(named), () -> named + " are not in " + exported);
        });
    }

    private static void assertRulesAreHealthy(Prometheus prometheus) {
        await().atMost(WITHIN).ignoreExceptions().untilAsserted(() -> {
            int number = 0;
            for (Json group : prometheus.get("rules").at("groups").elements()) {
                for (Json rule : group.at("rules").elements()) {
                    assertEquals("ok", rule.at("health").text(), rule::toString);
                    number++;
                }
            }
            assertTrue(number > 30, "rules " + number);
        });
    }

    private static void assertMetricsOfRulesExist(Prometheus prometheus) throws IOException {
        Set<String> scraped = new TreeSet<>();
        prometheus.get("label/__name__/values").elements().forEach(each -> scraped.add(each.text()));
        Set<String> missing = new TreeSet<>();
        for (String line : Files.readAllLines(rules())) {
            Matcher metric = METRIC.matcher(line.contains("description:") || line.contains("summary:") ? "" : line);
            while (metric.find()) {
                if (!scraped.contains(metric.group())) {
                    missing.add(metric.group());
                }
            }
        }
        assertEquals(Set.of(), missing);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
