package io.millrace.cli.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class MetricFamiliesTest {
    private static final String TEXT =
            "# HELP a_total How many.\n# TYPE a_total counter\na_total{application=\"m\",by=\"x\"} 4.0\n"
                    + "# TYPE b gauge\nb 1.0\n# TYPE c histogram\nc_bucket{le=\"1\"} 2\nc_sum 3\nc_count 2\nc_max 9\n";

    private static List<MetricSample> samples() {
        return MetricSample.parse(TEXT);
    }

    @Test
    void knowsNameKindHelpLabelsAndSeries() {
        List<MetricFamilies.Family> all = MetricFamilies.parse(TEXT, samples()).all();
        assertEquals(new MetricFamilies.Family("a_total", "counter", "How many.", List.of("by"), 1), all.get(0));
        assertEquals(new MetricFamilies.Family("c", "histogram", "", List.of("le"), 4), all.get(2));
        assertTrue(all.get(0).isOf("a"));
    }

    @Test
    void countsAndSumsAreCountersAndMaximaAreNot() {
        MetricFamilies families = MetricFamilies.parse(TEXT, samples());
        assertEquals(
                List.of("a_total", "c_bucket", "c_sum", "c_count"),
                samples().stream()
                        .filter(families::isCounter)
                        .map(MetricSample::name)
                        .toList());
    }

    @Test
    void aCounterThatFellBeganAnew() {
        MetricFamilies families = MetricFamilies.parse(TEXT, samples());
        MetricSample before = new MetricSample("a_total", Map.of(), 100);
        MetricSample after = new MetricSample("a_total", Map.of(), 6);
        assertEquals(
                3,
                MetricChange.between(List.of(before), List.of(after), families, 2)
                        .get(0)
                        .amount());
        MetricSample gauge = new MetricSample("b", Map.of(), 6);
        MetricChange change = MetricChange.between(
                        List.of(new MetricSample("b", Map.of(), 10)), List.of(gauge), families, 2)
                .get(0);
        assertFalse(change.isRate());
        assertEquals(-4, change.amount());
    }

    @Test
    void aWrongExpressionIsReported() {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> NamePattern.of("a(b"));
        assertEquals("not a regular expression: a(b (Unclosed group at 4)", e.getMessage());
        assertTrue(NamePattern.of("r.q").isFoundIn("millrace_requests"));
    }
}
