package io.millrace.cli.render;

import io.millrace.cli.client.MetricSample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** Metrics for people: the value, then name and labels, so that long names need no column. */
public final class MetricView {
    private MetricView() {}

    /** A line per sample. */
    public static List<String> lines(List<MetricSample> samples) {
        int width = 0;
        for (MetricSample sample : samples) {
            width = Math.max(width, Quantities.value(sample.value()).length());
        }
        List<String> lines = new ArrayList<>();
        for (MetricSample sample : samples) {
            String value = Quantities.value(sample.value());
            lines.add(" ".repeat(width - value.length()) + value + "  " + sample.name() + labels(sample.labels()));
        }
        return lines;
    }

    private static String labels(Map<String, String> labels) {
        if (labels.isEmpty()) {
            return "";
        }
        StringJoiner joined = new StringJoiner(",", "{", "}");
        for (Map.Entry<String, String> label : labels.entrySet()) {
            joined.add(label.getKey() + "=\"" + Printable.of(label.getValue()) + "\"");
        }
        return joined.toString();
    }
}
