package io.millrace.cli.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How a metric has changed between two looks. Immutable.
 *
 * @param sample at the later look
 * @param isRate whether the amount is that of one second; else it is the whole change
 * @param amount how much it has changed
 */
public record MetricChange(MetricSample sample, boolean isRate, double amount) {
    /**
     * The changes of the later samples; one that was not there before has changed from 0, and so has a counter that fell, as its
     * process is another.
     *
     * @param seconds between the looks
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
