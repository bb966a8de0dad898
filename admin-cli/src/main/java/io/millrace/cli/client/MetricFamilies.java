package io.millrace.cli.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The metric families of a text in the Prometheus format. Immutable.
 *
 * @param all in the order of the text
 */
public record MetricFamilies(List<Family> all) {
    private static final String HELP = "# HELP ";
    private static final String TYPE = "# TYPE ";

    /**
     * A metric family. Immutable.
     *
     * @param name name as in samples, without the suffixes of histograms
     * @param kind {@code counter}, {@code gauge}, {@code histogram}, {@code summary} or {@code untyped}
     * @param help description of the metric
     * @param labels names of the labels of its samples, without {@code application}, which every sample has
     * @param series number of samples
     */
    public record Family(String name, String kind, String help, List<String> labels, int series) {
        /**
         * Returns true if a user may have meant this family. The user may omit the prefix {@code millrace_} and the
         * suffix {@code _total}.
         */
        public boolean isOf(String metric) {
            return new MetricSample(name, Map.of(), 0).isOf(MetricSample.nameIn(metric));
        }

        /** Returns true if the samples only increase until the process restarts. */
        public boolean isCounter() {
            return kind.equals("counter");
        }
    }

    /** Parses the {@code HELP} and {@code TYPE} lines, and collects the label names from the samples. */
    public static MetricFamilies parse(String text, List<MetricSample> samples) {
        Map<String, String> helps = new LinkedHashMap<>();
        Map<String, String> kinds = new LinkedHashMap<>();
        int start = 0;
        while (start < text.length()) {
            int end = text.indexOf('\n', start);
            end = end < 0 ? text.length() : end;
            read(text.substring(start, end), helps, kinds);
            start = end + 1;
        }
        List<Family> families = new ArrayList<>();
        for (Map.Entry<String, String> kind : kinds.entrySet()) {
            Set<String> labels = new LinkedHashSet<>();
            int series = 0;
            for (MetricSample sample : samples) {
                if (isOf(sample.name(), kind.getKey(), kind.getValue())) {
                    labels.addAll(sample.labels().keySet());
                    series++;
                }
            }
            labels.remove("application");
            String help = helps.getOrDefault(kind.getKey(), "");
            families.add(new Family(kind.getKey(), kind.getValue(), help, List.copyOf(labels), series));
        }
        return new MetricFamilies(List.copyOf(families));
    }

    private static void read(String line, Map<String, String> helps, Map<String, String> kinds) {
        boolean help = line.startsWith(HELP);
        if (!help && !line.startsWith(TYPE)) {
            return;
        }
        String rest = line.substring(HELP.length());
        int space = rest.indexOf(' ');
        if (space > 0) {
            String text = rest.substring(space + 1).strip();
            (help ? helps : kinds)
                    .put(rest.substring(0, space), text.replace("\\n", " ").replace("\\\\", "\\"));
        }
    }

    private static boolean isOf(String sample, String family, String kind) {
        if (!sample.startsWith(family)) {
            return false;
        }
        return switch (sample.substring(family.length())) {
            case "" -> true;
            case "_bucket", "_sum", "_count", "_max" -> kind.equals("histogram") || kind.equals("summary");
            default -> false;
        };
    }

    /** Returns true for a sample that only increases, such as a counter or a histogram's count. */
    public boolean isCounter(MetricSample sample) {
        for (Family family : all) {
            if (isOf(sample.name(), family.name(), family.kind())) {
                boolean counts = !sample.name().endsWith("_max");
                return family.isCounter()
                        || (counts
                                && !family.kind().equals("gauge")
                                && !family.kind().equals("untyped"));
            }
        }
        return false;
    }
}
