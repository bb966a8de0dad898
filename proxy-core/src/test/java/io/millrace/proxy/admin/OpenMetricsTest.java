package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class OpenMetricsTest {
    @Test
    void countersAreNamedWithoutTheirSuffixAndQuotesAreEscaped() {
        assertEquals(
                "# HELP a Says \\\"no\\\".\n# TYPE a counter\na_total{x=\"1\"} 2\n# HELP b B.\n# TYPE b gauge\nb 1\n",
                OpenMetrics.of("# HELP a_total Says \"no\".\n# TYPE a_total counter\na_total{x=\"1\"} 2\n"
                        + "# HELP b B.\n# TYPE b gauge\nb 1\n"));
    }

    @Test
    void theLineThatEndsATextIsFound() {
        assertEquals(4, OpenMetrics.lengthWithoutEnd("a 1\n# EOF\n".getBytes(StandardCharsets.US_ASCII)));
        assertEquals(4, OpenMetrics.lengthWithoutEnd("a 1\n".getBytes(StandardCharsets.US_ASCII)));
        assertEquals(0, OpenMetrics.lengthWithoutEnd(new byte[0]));
    }
}
