package io.millrace.cli.render;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.MetricRates;
import io.millrace.cli.client.MetricSample;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TopViewTest {
    private static final String BEFORE = """
            millrace_requests_total{cache="hit"} 100
            millrace_requests_total{cache="uri-miss"} 50
            millrace_sent_bytes_total{side="client"} 1000
            millrace_request_duration_seconds_sum{served_from="cache"} 1.0
            millrace_request_duration_seconds_count{served_from="cache"} 10
            """;
    private static final String AFTER = """
            millrace_requests_total{cache="hit"} 280
            millrace_requests_total{cache="uri-miss"} 70
            millrace_responses_total{status_class="2xx"} 200
            millrace_requests_active 3
            millrace_connections{side="client",state="open"} 12
            millrace_sent_bytes_total{side="client"} 21480
            millrace_request_duration_seconds_sum{served_from="cache"} 1.02
            millrace_request_duration_seconds_count{served_from="cache"} 30
            millrace_cache_bytes{tier="ram",volume=""} 512
            millrace_cache_max_bytes{tier="ram",volume=""} 1024
            millrace_origin_host_up{group="shop",host="http://10.0.0.1:80"} 0
            """;

    private static MetricRates rates() {
        return new MetricRates(MetricSample.parse(BEFORE), MetricSample.parse(AFTER), 2);
    }

    @Test
    void showsRatesSharesAndTiers() {
        String frame = String.join("\n", TopView.frame(rates(), "title", 80, 24, new Paint(false)));
        assertEquals("""
                title

                requests  100.0/s         3 active      hits 90.0% now, 80.0% since the start
                clients   12 open         0.0/s new     out 10 KiB/s, in 0 B/s
                origins   0.0/s           0.0/s failed  in 0 B/s, connections 0 active, 0 idle
                time      cache 1.0 ms    origin -      all 1.0 ms, origins alone -
                RAM       512 B of 1 KiB (50.0%) 0 objects
                disk      0 B of 0 B (-)  0 objects     0 of 0 volumes online

                cache           per second    share     status          per second    share
                hit                   90.0    90.0%     2xx                  100.0   100.0%
                uri-miss              10.0    10.0%

                host of origins                      state  per second   failed    latency
                http://10.0.0.1:80                    DOWN         0.0      0.0     0.0 ms""", frame);
    }

    @Test
    void showsHttp2ToOriginsOnceItWasUsed() {
        String before = BEFORE + "millrace_origin_http2_requests_total 10\n";
        String after = AFTER + """
                millrace_origin_http2_requests_total 60
                millrace_origin_http2_streams 7
                millrace_origin_http2_connections 2
                millrace_origin_http2_not_processed_total 4
                """;
        MetricRates rates = new MetricRates(MetricSample.parse(before), MetricSample.parse(after), 2);
        List<String> lines = TopView.frame(rates, "title", 100, 24, new Paint(false));
        assertEquals(
                "HTTP/2    25.0/s          7 active      to origins, connections 2 open, 2.0/s sent again",
                lines.get(5));
        assertTrue(TopView.frame(rates(), "title", 80, 24, new Paint(false)).stream()
                .noneMatch(l -> l.startsWith("HTTP/2")));
    }

    @Test
    void showsHttp2OnceAClientHasUsedIt() {
        String before = BEFORE + """
                millrace_http2_requests_total 10
                millrace_http2_connections_total 2
                """;
        String after = AFTER + """
                millrace_http2_requests_total 60
                millrace_http2_connections_total 4
                millrace_http2_resets_total 1
                millrace_http2_faults_total{reason="resets"} 2
                millrace_http2_faults_total{reason="protocol"} 1
                """;
        MetricRates rates = new MetricRates(MetricSample.parse(before), MetricSample.parse(after), 2);
        List<String> lines = TopView.frame(rates, "title", 80, 24, new Paint(false));
        assertEquals("HTTP/2    25.0/s          1.0/s new     25.0% of all, 0.5/s reset, 1.5/s faults", lines.get(4));
        String json = new String(TopView.json(rates), StandardCharsets.UTF_8);
        assertTrue(json.contains("\"http2_requests_per_second\":25.0"), json);
        assertTrue(json.contains("\"http2_faults_per_second\":1.5"), json);
        assertTrue(TopView.frame(rates(), "title", 80, 24, new Paint(false)).stream()
                .noneMatch(l -> l.startsWith("HTTP/2")));
    }

    @Test
    void fitsAScreenOfAnySize() {
        StringBuilder many = new StringBuilder(AFTER);
        for (int i = 0; i < 40; i++) {
            many.append("millrace_origin_host_up{group=\"g\",host=\"http://a-host-with-a-very-long-name-")
                    .append(i)
                    .append(".example:8080\"} 1\n");
        }
        MetricRates rates = new MetricRates(List.of(), MetricSample.parse(many.toString()), 1);
        for (int[] size : new int[][] {{80, 24}, {20, 5}, {1, 1}}) {
            List<String> frame = TopView.frame(rates, "a title", size[0], size[1], new Paint(false));
            assertTrue(frame.size() <= size[1]);
            frame.forEach(line -> assertTrue(line.length() <= size[0], line));
        }
    }

    @Test
    void aCounterThatFellHasBegunAnew() {
        MetricRates rates =
                new MetricRates(MetricSample.parse("a_total 100\n"), MetricSample.parse("a_total 6\nb_total 4\n"), 2);
        assertEquals(3, rates.rate("a_total"));
        assertEquals(2, rates.rate("b_total"));
    }

    @Test
    void theObjectHasStableNames() {
        assertEquals(
                "{\"seconds\":2.0,\"requests_per_second\":100.0,\"hits_per_second\":90.0,\"requests_active\":3,"
                        + "\"client_connections\":12,\"sent_bytes_per_second\":10240.0,\"received_bytes_per_second\":0.0,"
                        + "\"origin_requests_per_second\":0.0,\"origin_failures_per_second\":0.0,\"ram_bytes\":512,"
                        + "\"disk_bytes\":0,\"http2_requests_per_second\":0.0,\"http2_faults_per_second\":0.0}",
                new String(TopView.json(rates()), StandardCharsets.UTF_8));
    }
}
