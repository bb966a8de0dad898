package io.millrace.proxy.observe;

import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.Map;
import java.util.function.Supplier;

/** A Prometheus collector of a gauge whose label values are known only at a scrape. Thread-safe. */
final class NamedGaugesCollector implements Collector {
    private final Metric family;
    private final Supplier<Map<String, Double>> values;

    NamedGaugesCollector(Metric family, Supplier<Map<String, Double>> values) {
        this.family = family;
        this.values = values;
    }

    @Override
    public MetricSnapshot collect() {
        GaugeSnapshot.Builder snapshot =
                GaugeSnapshot.builder().name(family.metricName()).help(family.description());
        values.get()
                .forEach((label, value) -> snapshot.dataPoint(GaugeDataPointSnapshot.builder()
                        .labels(Labels.of("application", MetricsRegistry.APPLICATION)
                                .add(family.labels().get(0), label))
                        .value(value)
                        .build()));
        return snapshot.build();
    }
}
