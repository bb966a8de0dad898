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

    /**
     * The properties of a metric.
     *
     * @param metricName the name in the Prometheus text, including a suffix such as {@code _total} or {@code _bytes}
     * @param kind a counter, a gauge or a histogram
     * @param unit the unit of the value
     * @param description the meaning of the metric, and the action for an operator
     * @param labels the label names, in the order of the label values
     */
    public record Definition(String metricName, Kind kind, String unit, String description, List<String> labels) {}

    /** Returns all metrics, in the order of the reference page. */
    static List<Metric> all() {
        return Stream.<Metric[]>of(
                        MetricFamily.values(),
                        OriginMetric.values(),
                        TlsMetric.values(),
                        FleetMetric.values(),
                        StorageMetric.values(),
                        ExtensionMetric.values())
                .flatMap(Arrays::stream)
                .toList();
    }

    /** The name of the constant. */
    String name();

    /** The name, kind, unit, description and label names. */
    Definition definition();

    /** The name in the Prometheus text, including a suffix such as {@code _total} or {@code _bytes}. */
    default String metricName() {
        return definition().metricName();
    }

    /** The kind: a counter, a gauge or a histogram. */
    default Kind kind() {
        return definition().kind();
    }

    /** The unit of the value. */
    default String unit() {
        return definition().unit();
    }

    /** The meaning of the metric, and the action for an operator. */
    default String description() {
        return definition().description();
    }

    /** The label names, in the order of the label values. */
    default List<String> labels() {
        return definition().labels();
    }
}
