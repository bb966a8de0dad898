package io.millrace.shipped;

import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.Metric;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.event.EventKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The metrics that Prometheus has of a proxy, with their labels and values as far as these are fixed. */
final class ExportedMetrics {
    /** Labels that Prometheus or the registry adds to every series. */
    private static final Set<String> COMMON = Set.of("job", "instance", "application");

    /** Metrics whose first series appears with the first collection of garbage. */
    private static final Map<String, Set<String>> LATER =
            Map.of("jvm_gc_pause_seconds_sum", Set.of("action", "cause", "gc"));

    private static final Pattern SAMPLE = Pattern.compile("^([a-zA-Z_:][\\w:]*)(?:\\{([^}]*)})? ", Pattern.MULTILINE);
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"");

    private final Map<String, Set<String>> labels = new TreeMap<>();
    private final Map<String, Set<String>> values = new HashMap<>();

    ExportedMetrics(Set<String> recordings) {
        for (Metric metric : Metric.all()) {
            List<String> names = metric.kind() == Metric.Kind.HISTOGRAM
                    ? List.of(
                            metric.metricName() + "_bucket",
                            metric.metricName() + "_sum",
                            metric.metricName() + "_count")
                    : List.of(metric.metricName());
            for (String name : names) {
                Set<String> own = new TreeSet<>(metric.labels());
                if (name.endsWith("_bucket")) {
                    own.add("le");
                }
                labels.put(name, own);
            }
        }
        for (Counter counter : Counter.values()) {
            for (int i = 0; i < counter.labelValues().size(); i++) {
                allow(counter.family(), i, counter.labelValues().get(i));
            }
        }
        for (EventKind kind : EventKind.values()) {
            allow(MetricFamily.EVENTS, 0, kind.word());
        }
        labels.put("up", Set.of());
        labels.putAll(LATER);
        recordings.forEach(name -> labels.put(name, Set.of()));
        try (MetricsRegistry registry = new MetricsRegistry()) {
            Matcher sample = SAMPLE.matcher(registry.prometheusText());
            while (sample.find()) {
                Set<String> own = new TreeSet<>();
                Matcher label = LABEL.matcher(sample.group(2) == null ? "" : sample.group(2));
                while (label.find()) {
                    own.add(label.group(1));
                }
                labels.putIfAbsent(sample.group(1), own);
            }
        }
    }

    private void allow(Metric family, int label, String value) {
        values.computeIfAbsent(family.metricName() + " " + family.labels().get(label), key -> new TreeSet<>())
                .add(value);
    }

    /** Returns the problems of an expression: unknown metrics, labels and label values. */
    List<String> problems(String expression) {
        List<String> problems = new ArrayList<>();
        Set<String> all = new TreeSet<>(COMMON);
        List<MetricSelector> selectors = MetricSelector.in(expression);
        if (selectors.isEmpty()) {
            problems.add("no metric in " + expression);
        }
        for (MetricSelector selector : selectors) {
            Set<String> own = labels.get(selector.metric());
            if (own == null) {
                problems.add("unknown metric " + selector.metric() + " in " + expression);
                continue;
            }
            all.addAll(own);
            for (MetricSelector.LabelMatcher matcher : selector.matchers()) {
                if (!own.contains(matcher.label()) && !COMMON.contains(matcher.label())) {
                    problems.add(selector.metric() + " has no label " + matcher.label() + " in " + expression);
                } else if (!matchesAny(selector.metric(), matcher)) {
                    problems.add(selector.metric() + " has no " + matcher.label() + " like " + matcher.value());
                }
            }
        }
        for (String label : MetricSelector.groupings(expression)) {
            if (!all.contains(label)) {
                problems.add("no metric has the label " + label + " in " + expression);
            }
        }
        return problems;
    }

    /** Every alternative of a regular expression must be a value of the label, if its values are fixed. */
    private boolean matchesAny(String metric, MetricSelector.LabelMatcher matcher) {
        Set<String> known = values.get(metric + " " + matcher.label());
        if (known == null) {
            return true;
        }
        for (String alternative : matcher.value().split("\\|", -1)) {
            if (known.stream().noneMatch(value -> Pattern.matches(alternative, value))) {
                return false;
            }
        }
        return true;
    }
}
