package io.millrace.cli.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The change of a metric sample between two queries. Immutable.
 *
 * @param sample the sample in the later query
 * @param isRate true for a counter, whose amount is the increase per second; false for another metric, whose amount is
 *     the difference of the values
 * @param amount the change, in the unit that {@code isRate} determines
 */
public record MetricChange(MetricSample sample, boolean isRate, double amount) {
    /**
     * Returns the change of each later sample. The change is counted from 0 in two cases. First, the earlier query may
     * lack the sample. Second, a counter may be lower than before, because the process was restarted.
     *
     * @param seconds time between the queries, more than 0
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
