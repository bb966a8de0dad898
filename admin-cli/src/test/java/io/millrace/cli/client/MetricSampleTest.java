package io.millrace.cli.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class MetricSampleTest {
    @Test
    void readsNamesLabelsAndValues() {
        String text = "# HELP a_total Things.\n# TYPE a_total counter\na_total 5.0\n"
                + "b{x=\"1\",y=\"q\\\"\\\\\\n,}\"} +Inf 1700000000\nb{} NaN\n\nbroken\nbroken{x=\"1\nc -1.5E-3";
        assertEquals(
                List.of(
                        new MetricSample("a_total", Map.of(), 5),
                        new MetricSample("b", Map.of("x", "1", "y", "q\"\\\n,}"), Double.POSITIVE_INFINITY),
                        new MetricSample("b", Map.of(), Double.NaN),
                        new MetricSample("c", Map.of(), -0.0015)),
                MetricSample.parse(text));
    }

    @Test
    void knowsItsFamily() {
        MetricSample requests = new MetricSample("millrace_requests_total", Map.of(), 1);
        assertTrue(requests.isOf("millrace_requests_total"));
        assertTrue(requests.isOf("millrace_requests"));
        assertTrue(requests.isOf("requests_total"));
        assertTrue(requests.isOf("requests"));
        assertFalse(requests.isOf("request"));
        assertFalse(requests.isOf("millrace_requests_total_x"));
        assertTrue(new MetricSample("millrace_d_seconds_bucket", Map.of("le", "1"), 1).isOf("d_seconds"));
    }

    @Test
    void selectsByLabels() {
        MetricSample entries =
                new MetricSample("millrace_invalidation_entries", Map.of("kind", "pattern", "path", "/a,\"b"), 1);
        assertTrue(entries.isOf("millrace_invalidation_entries{kind=\"pattern\"}"));
        assertTrue(entries.isOf("invalidation_entries{path=\"/a,\\\"b\",kind=\"pattern\"}"));
        assertTrue(entries.isOf("invalidation_entries{}"));
        assertFalse(entries.isOf("invalidation_entries{kind=\"host\"}"));
        assertFalse(entries.isOf("invalidation_entries{other=\"pattern\"}"));
        assertFalse(entries.isOf("invalidation_entries{kind=\"pattern\""));
        assertFalse(entries.isOf("invalidation_entries{kind=pattern}"));
        assertFalse(entries.isOf("invalidation_entries{kind=\"pattern\"}x"));
        assertFalse(entries.isOf("entries{kind=\"pattern\"}"));
    }
}
