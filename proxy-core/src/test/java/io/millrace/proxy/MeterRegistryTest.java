package io.millrace.proxy;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.millrace.proxy.observe.Metric;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that the metrics of an embedded proxy are meters of the application's registry. */
class MeterRegistryTest {
    /** A metric of the proxy in the text format. */
    private static final Pattern TYPE = Pattern.compile("^# TYPE (millrace_\\w+) ", Pattern.MULTILINE);

    private static ProxyServer start(MeterRegistry registry, String... tags) throws IOException {
        return ProxyServer.builder()
                .listen("127.0.0.1:0")
                .map("/", "http://127.0.0.1:1")
                .meterRegistry(registry, tags)
                .start();
    }

    private static int get(ProxyServer proxy) throws IOException {
        HttpURLConnection connection = (HttpURLConnection)
                URI.create("http://127.0.0.1:" + proxy.port() + "/").toURL().openConnection();
        connection.setRequestProperty("Connection", "close");
        try {
            int status = connection.getResponseCode();
            try (var body = connection.getErrorStream()) {
                assertTrue(new String(body.readAllBytes(), StandardCharsets.UTF_8).length() > 0);
            }
            return status;
        } finally {
            connection.disconnect();
        }
    }

    /** The counters change after the last byte of the response. */
    private static void awaitOneError(ProxyServer proxy) {
        String sample = "millrace_responses_total{application=\"millrace\",status_class=\"5xx\"} 1.0";
        await().until(() -> proxy.metricsText().contains(sample));
    }

    private static Set<String> names(MeterRegistry registry) {
        Set<String> names = new TreeSet<>();
        for (Meter meter : registry.getMeters()) {
            names.add(meter.getId().getName());
        }
        return names;
    }

    @Test
    void everyMetricOfTheTextIsAMeter() throws IOException {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (ProxyServer proxy = start(registry, "proxy", "one")) {
            assertEquals(502, get(proxy));
            awaitOneError(proxy);
            // Adds the series of hosts, which otherwise follow within seconds.
            new ServerView(proxy).metrics().refresh();
            Set<String> names = names(registry);
            Matcher type = TYPE.matcher(proxy.metricsText());
            int found = 0;
            while (type.find()) {
                String name = type.group(1).replaceAll("_duration_seconds$", "_duration");
                assertTrue(names.contains(name), name + " is missing in " + names);
                found++;
            }
            assertTrue(found > 60, "metrics " + found);
            assertEquals(
                    1,
                    registry.get("millrace_responses_total")
                            .tag("status_class", "5xx")
                            .tag("proxy", "one")
                            .functionCounter()
                            .count());
            assertTrue(registry.get("millrace_cache_max_bytes")
                            .tag("tier", "ram")
                            .gauge()
                            .value()
                    > 0);
            double requests = registry.get("millrace_request_duration").functionTimers().stream()
                    .mapToDouble(timer -> timer.count())
                    .sum();
            assertEquals(1, requests);
            double buckets =
                    registry.get("millrace_request_duration_seconds_histogram").tag("le", "+Inf").gauges().stream()
                            .mapToDouble(gauge -> gauge.value())
                            .sum();
            assertEquals(1, buckets);
        }
        assertEquals(List.of(), registry.getMeters());
    }

    @Test
    void prometheusRegistryHasTheNamesOfTheReference() throws IOException {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        registry.config().commonTags("application", "shop");
        try (ProxyServer one = start(registry, "proxy", "one");
                ProxyServer other = start(registry, "proxy", "other")) {
            assertEquals(502, get(one));
            awaitOneError(one);
            assertNotNull(other);
            String text = registry.scrape();
            String sample = "millrace_responses_total{application=\"shop\",proxy=\"%s\",status_class=\"5xx\"} %s.0\n";
            assertTrue(text.contains(sample.formatted("one", 1)), text);
            assertTrue(text.contains(sample.formatted("other", 0)), text);
            assertTrue(text.contains("millrace_request_duration_seconds_count{"), text);
            assertTrue(text.contains("millrace_request_duration_seconds_histogram{"), text);
            Set<String> known = new TreeSet<>();
            for (Metric metric : Metric.all()) {
                known.add(metric.metricName());
            }
            Matcher type = TYPE.matcher(text);
            while (type.find()) {
                assertTrue(known.contains(type.group(1).replaceAll("_histogram$", "")), type.group(1));
            }
        }
        assertEquals("", registry.scrape());
    }

    @Test
    void twoProxiesWithTheSameTagsAreRefused() throws IOException {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (ProxyServer first = start(registry)) {
            assertNotNull(first);
            IllegalStateException refused = assertThrows(IllegalStateException.class, () -> start(registry));
            assertTrue(refused.getMessage().contains("tags"), refused.getMessage());
        }
        try (ProxyServer next = start(registry)) {
            assertTrue(names(registry).size() > 60);
            assertNotNull(next);
        }
    }

    @Test
    void embedderMetersDoNotChangeTheText() throws IOException {
        try (ProxyServer proxy = start(new SimpleMeterRegistry(), "proxy", "one")) {
            assertTrue(!proxy.metricsText().contains("proxy=\"one\""));
        }
    }
}
