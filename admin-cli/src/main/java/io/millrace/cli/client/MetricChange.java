package io.millrace.cli.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The change of a metric between two queries. Immutable.
 *
 * @param sample the sample in the later query
 * @param isRate whether the amount is per second; else it is the total change
 * @param amount amount of the change
 */
public record MetricChange(MetricSample sample, boolean isRate, double amount) {
    /**
     * Returns the changes of the later samples. A sample that did not exist before has changed from 0. A counter that
     * fell has also changed from 0, since the process was restarted.
     *
     * @param seconds time between the queries
     */
    public static List<MetricChange> between(
            List<MetricSample> before, List<MetricSample> after, MetricFamilies families, double seconds) {
        Map<String, Double> values = new HashMap<>();
        for (MetricSample sample : before) {
            values.put(sample.name() + sample.labels(), sample.value());
        }
        List<MetricChange> changes = new ArrayList<>();
        for (MetricSample sample : after) {
            boolean counter = families.isCounter(sample);
            double earlier = values.getOrDefault(sample.name() + sample.labels(), 0.0);
            double from = counter && sample.value() < earlier ? 0 : earlier;
            double change = sample.value() - from;
            changes.add(new MetricChange(sample, counter, counter ? change / seconds : change));
        }
        return changes;
    }
}
