package io.millrace.proxy.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that {@code docs/reference/metrics.md} matches the enums of {@link Metric} and {@link Counter}. */
class MetricsReferenceTest {
    private static final Path PAGE = Path.of("..", "docs", "reference", "metrics.md");

    @Test
    void thePageIsTheOneMadeFromTheTables() throws IOException {
        Path made = Path.of("target", "metrics.md");
        Files.createDirectories(made.getParent());
        Files.writeString(made, page());
        String found = Files.exists(PAGE) ? Files.readString(PAGE) : "";
        assertEquals(
                page(), found, "docs/reference/metrics.md is out of date: copy proxy-core/target/metrics.md over it");
    }

    @Test
    void everyMetricSaysWhatItIsInOneSentence() {
        for (Metric family : Metric.all()) {
            String sentence = family.description();
            assertTrue(sentence.length() > 20 && sentence.endsWith("."), family.name());
            assertEquals(sentence.length() - 1, sentence.lastIndexOf('.'), family.name());
            assertTrue(family.metricName().startsWith("millrace_"), family.name());
            assertEquals(
                    family.kind() == Metric.Kind.COUNTER, family.metricName().endsWith("_total"), family.name());
        }
    }

    /** Rows of label values whose counters are no {@link Counter}, in families that have such counters. */
    private static final Map<Metric, String> SUPPLIED =
            Map.of(TlsMetric.ACME_CHALLENGES, "| `tls-alpn-01` | by a TLS handshake |\n");

    private static String page() {
        StringBuilder page = new StringBuilder("""
                # Metrics

                `GET /metrics` of the admin API answers in the Prometheus text format. Every series carries the label
                `application="millrace"`. Further metrics show the JVM and the process (`jvm_*`, `process_*`, `system_*`,
                `netty_allocator_*`); common JVM dashboards use these names.
                The launcher adds `millrace_admin_refused_total` ([operating.md](../guide/operating.md#connections-and-time)) and
                `millrace_dashboard_replies_total` ([dashboard.md](../guide/dashboard.md#roles)).

                This page is generated from `Counter` and the enums of `Metric`, such as `MetricFamily`; a test compares them.

                | metric | kind | unit | labels | meaning |
                |---|---|---|---|---|
                """);
        for (Metric family : Metric.all()) {
            page.append("| `").append(family.metricName()).append("` | ");
            page.append(family.kind().name().toLowerCase(Locale.ROOT)).append(" | ");
            page.append(family.unit()).append(" | ");
            page.append(family.labels().isEmpty() ? "" : "`" + String.join("`, `", family.labels()) + "`");
            page.append(" | ").append(family.description()).append(" |\n");
        }
        page.append("\n## Label values\n");
        Metric last = null;
        for (Counter counter : Counter.values()) {
            if (counter.labelValues().isEmpty()) {
                continue;
            }
            if (counter.family() != last) {
                last = counter.family();
                page.append("\n`").append(last.metricName()).append("`\n\n");
                page.append("| ").append(String.join(" | ", last.labels())).append(" | meaning |\n");
                page.append("|---".repeat(last.labels().size())).append("|---|\n");
                page.append(SUPPLIED.getOrDefault(last, ""));
            }
            page.append("| `").append(String.join("` | `", counter.labelValues()));
            page.append("` | ").append(counter.description()).append(" |\n");
        }
        return page.toString();
    }
}
