package io.millrace.proxy.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MetricsRegistryTest {
    private final MetricsRegistry metrics = new MetricsRegistry();

    @AfterEach
    void close() {
        metrics.close();
    }

    @Test
    void sumsTheCountersOfAllLoops() {
        LoopCounters one = metrics.newLoopCounters();
        LoopCounters other = metrics.newLoopCounters();
        one.requestCompleted(CacheResult.HIT, 200, 1);
        other.requestCompleted(CacheResult.HIT, 304, 1);
        other.requestCompleted(CacheResult.URI_MISS, 502, 1);

        assertEquals(2, metrics.total(Counter.REQUESTS_HIT));
        assertEquals(3, metrics.total(MetricFamily.REQUESTS));
        assertSample("millrace_requests_total{application=\"millrace\",cache=\"hit\"} 2.0");
        assertSample("millrace_requests_total{application=\"millrace\",cache=\"uri-miss\"} 1.0");
        assertSample("millrace_responses_total{application=\"millrace\",status_class=\"3xx\"} 1.0");
        assertSample("millrace_responses_total{application=\"millrace\",status_class=\"5xx\"} 1.0");
    }

    @ParameterizedTest
    @EnumSource(Counter.class)
    void everyCounterIsASeriesUnderItsOwnName(Counter counter) {
        LoopCounters loop = metrics.newLoopCounters();
        loop.add(counter, 7);

        String labels = "{application=\"millrace\"";
        for (int i = 0; i < counter.labelValues().size(); i++) {
            labels += "," + counter.family().labels().get(i) + "=\""
                    + counter.labelValues().get(i) + "\"";
        }
        assertSample(counter.family().metricName() + labels + "} 7.0");
    }

    @Test
    void everyFamilyOfTheLoopsHasItsDescriptionAndKind() {
        String text = metrics.prometheusText();
        for (Counter counter : Counter.values()) {
            Metric family = counter.family();
            assertTrue(text.contains("# HELP " + family.metricName() + " " + family.description()), family.name());
            String kind = family.kind() == Metric.Kind.COUNTER ? " counter" : " gauge";
            assertTrue(text.contains("# TYPE " + family.metricName() + kind), family.name());
        }
    }

    @Test
    void exportsDurationsAsACumulativeHistogramByWhoServed() {
        LoopCounters loop = metrics.newLoopCounters();
        loop.requestCompleted(CacheResult.HIT, 200, TimeUnit.MICROSECONDS.toNanos(15));
        loop.requestCompleted(CacheResult.HIT, 200, TimeUnit.MICROSECONDS.toNanos(40));
        loop.requestCompleted(CacheResult.URI_MISS, 200, TimeUnit.MILLISECONDS.toNanos(80));
        loop.originResponded(TimeUnit.MILLISECONDS.toNanos(70));

        String hits = "millrace_request_duration_seconds_bucket{application=\"millrace\",served_from=\"cache\",le=";
        assertSample(hits + "\"1.0E-5\"} 0");
        assertSample(hits + "\"2.0E-5\"} 1");
        assertSample(hits + "\"5.0E-5\"} 2");
        assertSample(hits + "\"+Inf\"} 2");
        assertSample("millrace_request_duration_seconds_count{application=\"millrace\",served_from=\"cache\"} 2");
        assertSample("millrace_request_duration_seconds_sum{application=\"millrace\",served_from=\"cache\"} 5.5E-5");
        assertSample("millrace_request_duration_seconds_count{application=\"millrace\",served_from=\"origin\"} 1");
        assertSample("millrace_origin_request_duration_seconds_count{application=\"millrace\"} 1");
        assertSample("millrace_origin_request_duration_seconds_sum{application=\"millrace\"} 0.07");
    }

    @Test
    void asksSuppliersAtEachScrape() {
        AtomicLong bytes = new AtomicLong(5);
        metrics.supplyGauge(StorageMetric.CACHE_BYTES, bytes::get, "ram", "");
        metrics.supplyCounter(MetricFamily.CACHE_REFILLED, () -> 3);

        assertSample("millrace_cache_bytes{application=\"millrace\",tier=\"ram\",volume=\"\"} 5.0");
        bytes.set(6);
        assertSample("millrace_cache_bytes{application=\"millrace\",tier=\"ram\",volume=\"\"} 6.0");
        assertSample("millrace_cache_refilled_total{application=\"millrace\"} 3.0");
    }

    @Test
    void exportsSecondsWithFractions() {
        metrics.supplySeconds(MetricFamily.COMPRESSION_TIME, () -> TimeUnit.MILLISECONDS.toNanos(1250));

        assertSample("millrace_compression_seconds_total{application=\"millrace\"} 1.25");
    }

    @Test
    void acceptsASupplierOfEveryFamilyUnderItsName() {
        for (Metric family : Metric.all()) {
            String[] labelValues = new String[family.labels().size()];
            Arrays.fill(labelValues, "x");
            switch (family.kind()) {
                case COUNTER -> metrics.supplyCounter(family, () -> 1, labelValues);
                case GAUGE -> metrics.supplyGauge(family, () -> 1, labelValues);
                case HISTOGRAM -> {
                    // has its own collector
                }
            }
        }
        List<String> lines = metrics.prometheusText().lines().toList();
        for (Metric family : Metric.all()) {
            assertTrue(
                    lines.stream()
                            .anyMatch(line -> line.startsWith(family.metricName() + "{")
                                    || line.startsWith(family.metricName() + "_bucket{")),
                    family.metricName());
        }
    }

    @Test
    void rejectsSeriesThatDoNotFitTheirFamily() {
        assertThrows(IllegalArgumentException.class, () -> metrics.supplyGauge(MetricFamily.CACHE_REFILLED, () -> 1));
        assertThrows(IllegalArgumentException.class, () -> metrics.supplyCounter(StorageMetric.CACHE_BYTES, () -> 1));
        assertThrows(
                IllegalArgumentException.class, () -> metrics.supplyGauge(StorageMetric.CACHE_BYTES, () -> 1, "ram"));
    }

    @Test
    void hasTheFiguresOfJvmProcessAndAllocator() {
        metrics.bindAllocator(UnpooledByteBufAllocator.DEFAULT);
        String text = metrics.prometheusText();
        for (String name : List.of(
                "jvm_memory_used_bytes{",
                "jvm_threads_live_threads{",
                "jvm_info{",
                "process_uptime_seconds{",
                "process_files_open_files{",
                "system_cpu_count{",
                "netty_allocator_memory_used{")) {
            assertTrue(text.contains("\n" + name), name);
        }
        assertTrue(text.contains("jvm_memory_used_bytes{application=\"millrace\""), text);
    }

    @Test
    void gaugesGoDownAgain() {
        LoopCounters loop = metrics.newLoopCounters();
        loop.increment(Counter.CLIENT_CONNECTIONS);
        loop.increment(Counter.CLIENT_CONNECTIONS);
        loop.decrement(Counter.CLIENT_CONNECTIONS);

        assertSample("millrace_connections{application=\"millrace\",side=\"client\",state=\"open\"} 1.0");
        assertThrows(AssertionError.class, () -> loop.decrement(Counter.REQUESTS_HIT));
    }

    @Test
    void everyCacheResultAndStatusClassHasItsCounter() {
        for (CacheResult result : CacheResult.values()) {
            assertEquals(List.of(result.word()), Counter.requests(result).labelValues());
        }
        assertEquals(Counter.RESPONSES_1XX, Counter.responses(101));
        assertEquals(Counter.RESPONSES_2XX, Counter.responses(299));
        assertEquals(Counter.RESPONSES_5XX, Counter.responses(599));
        assertEquals(Counter.RESPONSES_NONE, Counter.responses(0));
        assertEquals(Counter.RESPONSES_NONE, Counter.responses(600));
        assertEquals(Counter.RESPONSES_NONE, Counter.responses(-1));
    }

    @Test
    void noTwoCountersAreTheSameSeries() {
        long distinct = Arrays.stream(Counter.values())
                .map(counter -> counter.family().metricName() + counter.labelValues())
                .distinct()
                .count();
        assertEquals(Counter.values().length, distinct);
        for (Counter counter : Counter.values()) {
            assertEquals(counter.family().labels().size(), counter.labelValues().size(), counter.name());
            assertFalse(counter.description().isEmpty());
        }
    }

    private void assertSample(String line) {
        String text = metrics.prometheusText();
        assertTrue(text.lines().anyMatch(line::equals), () -> line + "\nis not in\n" + text);
    }
}
