package io.millrace.cli.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Values and rates of metrics, computed from the samples of two queries. Immutable. */
public final class MetricRates {
    private final Map<String, Double> before = new HashMap<>();
    private final List<MetricSample> after;
    private final double seconds;

    /** @param seconds time between the queries, more than 0 */
    public MetricRates(List<MetricSample> before, List<MetricSample> after, double seconds) {
        for (MetricSample sample : before) {
            this.before.put(sample.name() + sample.labels(), sample.value());
        }
        this.after = List.copyOf(after);
        this.seconds = seconds;
    }

    /** Seconds between the queries. */
    public double seconds() {
        return seconds;
    }

    /**
     * Returns the sum of the later values of all samples with a name and labels.
     *
     * @param labels the labels that a sample must have: name, value, name, value, and so on
     */
    public double value(String name, String... labels) {
        double sum = 0;
        for (MetricSample sample : after) {
            if (matches(sample, name, labels)) {
                sum += sample.value();
            }
        }
        return sum;
    }

    /**
     * Returns the increase per second of all counters with a name and labels, added up. A counter that is lower than
     * before was restarted, so its increase is counted from 0.
     *
     * @param labels as for {@link #value}
     */
    public double rate(String name, String... labels) {
        double sum = 0;
        for (MetricSample sample : after) {
            if (matches(sample, name, labels)) {
                double earlier = before.getOrDefault(sample.name() + sample.labels(), 0.0);
                sum += sample.value() - (sample.value() < earlier ? 0 : earlier);
            }
        }
        return sum / seconds;
    }

    /** Returns the different values of a label among the later samples of a metric. */
    public List<String> labelValues(String name, String label) {
        Set<String> values = new LinkedHashSet<>();
        for (MetricSample sample : after) {
            String value = sample.name().equals(name) ? sample.labels().get(label) : null;
            if (value != null) {
                values.add(value);
            }
        }
        return new ArrayList<>(values);
    }

    private static boolean matches(MetricSample sample, String name, String... labels) {
        if (!sample.name().equals(name)) {
            return false;
        }
        for (int i = 0; i + 1 < labels.length; i += 2) {
            if (!labels[i + 1].equals(sample.labels().get(labels[i]))) {
                return false;
            }
        }
        return true;
    }
}
