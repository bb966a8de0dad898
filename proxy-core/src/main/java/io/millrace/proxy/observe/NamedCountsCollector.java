package io.millrace.proxy.observe;

import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * A Prometheus collector of a counter with one label. It bypasses Micrometer, because the label values are not
 * known before a scrape. Thread-safe.
 */
final class NamedCountsCollector implements Collector {
    /** The suffix that the Prometheus text adds to counter names. */
    private static final String SUFFIX = "_total";

    private final Metric family;
    private final Supplier<Map<String, Double>> values;

    NamedCountsCollector(Metric family, Supplier<Map<String, Double>> values) {
        this.family = family;
        this.values = values;
    }

    @Override
    public MetricSnapshot collect() {
        return snapshot(family, values.get());
    }

    /** Returns a counter with one label, with the values by label value. */
    static CounterSnapshot snapshot(Metric family, Map<String, Double> values) {
        String name = family.metricName();
        CounterSnapshot.Builder snapshot = CounterSnapshot.builder()
                .name(name.substring(0, name.length() - SUFFIX.length()))
                .help(family.description());
        new TreeMap<>(values)
                .forEach((label, value) -> snapshot.dataPoint(CounterDataPointSnapshot.builder()
                        .labels(Labels.of("application", MetricsRegistry.APPLICATION)
                                .add(family.labels().get(0), label))
                        .value(value)
                        .build()));
        return snapshot.build();
    }
}
