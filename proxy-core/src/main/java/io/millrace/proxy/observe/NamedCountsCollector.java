package io.millrace.proxy.observe;

import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * A Prometheus collector that sums the {@link NamedCounts} of all event loops at a scrape. It bypasses
 * Micrometer, because the label values are not known before a scrape. Thread-safe.
 */
final class NamedCountsCollector implements Collector {
    /** The suffix that the Prometheus text adds to counter names. */
    private static final String SUFFIX = "_total";

    private final Metric family;
    private final List<LoopCounters> loops;
    private final Function<LoopCounters, NamedCounts> counts;

    NamedCountsCollector(Metric family, List<LoopCounters> loops, Function<LoopCounters, NamedCounts> counts) {
        this.family = family;
        this.loops = loops;
        this.counts = counts;
    }

    @Override
    public MetricSnapshot collect() {
        Map<String, Long> sums = new TreeMap<>();
        for (LoopCounters loop : loops) {
            counts.apply(loop).addTo(sums);
        }
        String name = family.metricName();
        CounterSnapshot.Builder snapshot = CounterSnapshot.builder()
                .name(name.substring(0, name.length() - SUFFIX.length()))
                .help(family.description());
        sums.forEach((label, sum) -> snapshot.dataPoint(CounterDataPointSnapshot.builder()
                .labels(Labels.of("application", MetricsRegistry.APPLICATION)
                        .add(family.labels().get(0), label))
                .value(sum)
                .build()));
        return snapshot.build();
    }
}
