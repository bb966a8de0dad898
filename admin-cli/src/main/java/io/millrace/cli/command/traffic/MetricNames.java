package io.millrace.cli.command.traffic;

import io.millrace.cli.client.MetricSample;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Suggests the most similar metric name for an unknown name. Stateless. */
final class MetricNames {
    private MetricNames() {}

    /** Returns a message such as {@code millctl: no metric reqests (did you mean millrace_requests_total?)}. */
    static String unknown(String name, List<MetricSample> all) {
        String near = nearest(MetricSample.nameIn(name), all);
        return "millctl: no metric " + name + (near == null ? "" : " (did you mean " + near + "?)");
    }

    private static @Nullable String nearest(String name, List<MetricSample> samples) {
        String full = name.startsWith("millrace_") ? name : "millrace_" + name;
        String nearest = null;
        int least = Math.max(3, name.length() / 3);
        for (MetricSample sample : samples) {
            int distance = distance(full, sample.name());
            if (distance < least) {
                least = distance;
                nearest = sample.name();
            }
        }
        return nearest;
    }

    /** Returns the Levenshtein distance: how many characters must be inserted, deleted or replaced. */
    private static int distance(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[other.length()];
    }
}
