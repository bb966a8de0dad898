package io.millrace.proxy.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The series of a scrape share one report. */
class ScrapeReportTest {
    private final AtomicLong made = new AtomicLong();

    @Test
    void oneReportIsMadeForAScrape() {
        try (MetricsRegistry metrics = new MetricsRegistry()) {
            Supplier<Long> report = metrics.perScrape(made::incrementAndGet);
            metrics.supplyGauge(MetricFamily.MEMORY, report::get, "heap");
            metrics.supplyGauge(MetricFamily.MEMORY, report::get, "code");
            metrics.supplyGauge(MetricFamily.MEMORY_ANONYMOUS, report::get);
            for (long scrape = 1; scrape <= 3; scrape++) {
                String text = scrape == 2 ? metrics.openMetricsText() : metrics.prometheusText();
                assertEquals(scrape, made.get());
                assertTrue(text.contains("part=\"heap\"} " + scrape + ".0\n"), text);
                assertTrue(text.contains("part=\"code\"} " + scrape + ".0\n"), text);
            }
        }
    }
}
