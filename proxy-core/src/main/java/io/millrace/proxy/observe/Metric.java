package io.millrace.proxy.observe;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A metric of Millrace, with name, kind, unit, label names and description. The metrics are constants of enums,
 * from which {@code docs/reference/metrics.md} is generated. Immutable.
 */
public interface Metric {
    /** The kind of a metric, which determines how its value changes. */
    public enum Kind {
        /** Only increases, from 0 at the start of the process. */
        COUNTER,
        /** Increases and decreases. */
        GAUGE,
        /** Counts per bucket, with sum and count. */
        HISTOGRAM
    }

    /** Returns all metrics, in the order of the reference page. */
    static List<Metric> all() {
        return Stream.<Metric[]>of(MetricFamily.values(), StorageMetric.values(), ExtensionMetric.values())
                .flatMap(Arrays::stream)
                .toList();
    }

    /** The name of the constant. */
    String name();

    /** The name in the Prometheus text, including a suffix such as {@code _total} or {@code _bytes}. */
    String metricName();

    /** The kind: a counter, a gauge or a histogram. */
    Kind kind();

    /** The unit of the value. */
    String unit();

    /** The meaning of the metric, and the action for an operator. */
    String description();

    /** The label names, in the order of the label values. */
    List<String> labels();
}
