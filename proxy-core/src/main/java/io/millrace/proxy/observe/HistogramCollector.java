package io.millrace.proxy.observe;

import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * A Prometheus collector that sums the {@link LatencyHistogram}s of all event loops at a scrape. It bypasses
 * Micrometer, which cannot build a histogram from existing counts. Thread-safe.
 */
final class HistogramCollector implements Collector {
    private static final double NANOS_PER_SECOND = 1e9;

    /** One series: its label values, and a function that returns the histogram of a loop. */
    record Series(
            List<String> labelValues, List<LoopCounters> loops, Function<LoopCounters, LatencyHistogram> histogram) {
        /** Returns the number of durations up to the bound of a bucket. */
        long cumulative(int bucket) {
            long[] counts = new long[LatencyHistogram.bucketCount()];
            for (LoopCounters loop : loops) {
                histogram.apply(loop).addCountsTo(counts);
            }
            long sum = 0;
            for (int i = 0; i <= bucket; i++) {
                sum += counts[i];
            }
            return sum;
        }

        /** Returns the sum of all durations in nanoseconds. */
        double sumNanos() {
            double sum = 0;
            for (LoopCounters loop : loops) {
                sum += histogram.apply(loop).sumNanos();
            }
            return sum;
        }
    }

    private final Metric family;
    private final List<Series> series;

    HistogramCollector(Metric family, List<Series> series) {
        this.family = family;
        this.series = series;
    }

    @Override
    public MetricSnapshot collect() {
        HistogramSnapshot.Builder snapshot =
                HistogramSnapshot.builder().name(family.metricName()).help(family.description());
        for (Series one : series) {
            snapshot.dataPoint(dataPoint(one));
        }
        return snapshot.build();
    }

    private HistogramDataPointSnapshot dataPoint(Series one) {
        long[] counts = new long[LatencyHistogram.bucketCount()];
        for (LoopCounters loop : one.loops()) {
            one.histogram().apply(loop).addCountsTo(counts);
        }
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        for (int i = 0; i < counts.length; i++) {
            long bound = LatencyHistogram.boundNanos(i);
            buckets.bucket(bound == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : bound / NANOS_PER_SECOND, counts[i]);
        }
        return HistogramDataPointSnapshot.builder()
                .labels(labels(one.labelValues()))
                .classicHistogramBuckets(buckets.build())
                .sum(one.sumNanos() / NANOS_PER_SECOND)
                .exemplars(Exemplars.of(exemplars(one)))
                .build();
    }

    /** Returns the latest exemplar of each bucket. Only the OpenMetrics format shows them. */
    private static List<Exemplar> exemplars(Series one) {
        List<Exemplar> exemplars = new ArrayList<>();
        for (int i = 0; i < LatencyHistogram.bucketCount(); i++) {
            TraceExemplar latest = null;
            for (LoopCounters loop : one.loops()) {
                TraceExemplar next = one.histogram().apply(loop).exemplar(i);
                if (next != null && (latest == null || next.endNanos() - latest.endNanos() > 0)) {
                    latest = next;
                }
            }
            if (latest != null) {
                exemplars.add(latest.toPrometheus());
            }
        }
        return exemplars;
    }

    private Labels labels(List<String> values) {
        Labels labels = Labels.of("application", MetricsRegistry.APPLICATION);
        for (int i = 0; i < values.size(); i++) {
            labels = labels.add(family.labels().get(i), values.get(i));
        }
        return labels;
    }
}
