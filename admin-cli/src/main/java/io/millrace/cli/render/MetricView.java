package io.millrace.cli.render;

import io.millrace.cli.client.MetricChange;
import io.millrace.cli.client.MetricFamilies;
import io.millrace.cli.client.MetricSample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Formats metrics as text. In each line the value precedes the name, so that the values form a column however long the
 * names are. Stateless.
 */
public final class MetricView {
    private MetricView() {}

    /** Returns a line for each sample: the value, then name and labels. */
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

    /** Returns a paragraph for each metric: name, kind, labels and description. */
    public static List<String> families(List<MetricFamilies.Family> families, Paint paint) {
        List<String> lines = new ArrayList<>();
        for (MetricFamilies.Family family : families) {
            String labels = family.labels().isEmpty() ? "" : " by " + String.join(", ", family.labels());
            lines.add(paint.strong(family.name()) + "  " + family.kind() + labels + ", "
                    + Quantities.count(family.series(), "series", "series") + " now");
            lines.addAll(Wrapped.lines(Printable.of(family.help()), 76, "    "));
        }
        return lines;
    }

    /** Returns a line for each sample: the change, then name and labels. */
    public static List<String> changes(List<MetricChange> changes) {
        List<String> amounts = new ArrayList<>();
        int width = 0;
        for (MetricChange change : changes) {
            String amount = change.isRate()
                    ? Quantities.tenths(change.amount()) + "/s"
                    : Quantities.value(change.sample().value()) + " (" + (change.amount() < 0 ? "" : "+")
                            + Quantities.tenths(change.amount()) + ")";
            amounts.add(amount);
            width = Math.max(width, amount.length());
        }
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < amounts.size(); i++) {
            MetricSample sample = changes.get(i).sample();
            String amount = amounts.get(i);
            lines.add(" ".repeat(width - amount.length()) + amount + "  " + sample.name() + labels(sample.labels()));
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
