package io.millrace.cli.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A metric sample: one line with a value in the Prometheus text format 0.0.4. Immutable.
 *
 * @param name name of the sample, such as {@code millrace_requests_total}
 * @param labels labels by name, in the order of the text
 * @param value may be infinite or NaN
 */
public record MetricSample(String name, Map<String, String> labels, double value) {
    /** Parses every sample of a text; skips comments and lines that are not samples. */
    public static List<MetricSample> parse(String text) {
        List<MetricSample> samples = new ArrayList<>();
        int start = 0;
        while (start < text.length()) {
            int end = text.indexOf('\n', start);
            end = end < 0 ? text.length() : end;
            MetricSample sample = sample(text.substring(start, end));
            if (sample != null) {
                samples.add(sample);
            }
            start = end + 1;
        }
        return samples;
    }

    private static @Nullable MetricSample sample(String line) {
        if (line.isEmpty() || line.charAt(0) == '#') {
            return null;
        }
        int nameEnd = 0;
        while (nameEnd < line.length() && line.charAt(nameEnd) != '{' && line.charAt(nameEnd) != ' ') {
            nameEnd++;
        }
        Map<String, String> labels = new LinkedHashMap<>();
        int valueStart = nameEnd;
        if (nameEnd < line.length() && line.charAt(nameEnd) == '{') {
            valueStart = labels(line, nameEnd + 1, labels);
        }
        if (nameEnd == 0 || valueStart < 0) {
            return null;
        }
        String rest = line.substring(valueStart).strip();
        int space = rest.indexOf(' '); // a timestamp may follow
        Double value = value(space < 0 ? rest : rest.substring(0, space));
        return value == null ? null : new MetricSample(line.substring(0, nameEnd), labels, value);
    }

    /**
     * Parses {@code name="value",...}} from {@code position}. Returns the position after the brace, or -1 if it is
     * missing.
     */
    private static int labels(String line, int position, Map<String, String> labels) {
        int at = position;
        while (at < line.length() && line.charAt(at) != '}') {
            int equals = line.indexOf("=\"", at);
            if (equals < 0) {
                return -1;
            }
            StringBuilder value = new StringBuilder();
            int i = equals + 2;
            while (i < line.length() && line.charAt(i) != '"') {
                char character = line.charAt(i++);
                if (character == '\\' && i < line.length()) {
                    char escaped = line.charAt(i++);
                    character = escaped == 'n' ? '\n' : escaped;
                }
                value.append(character);
            }
            labels.put(line.substring(at, equals).strip(), value.toString());
            at = i + 1;
            if (at < line.length() && line.charAt(at) == ',') {
                at++;
            }
        }
        return at < line.length() ? at + 1 : -1;
    }

    private static @Nullable Double value(String text) {
        return switch (text) {
            case "NaN" -> (Double) Double.NaN;
            case "+Inf" -> (Double) Double.POSITIVE_INFINITY;
            case "-Inf" -> (Double) Double.NEGATIVE_INFINITY;
            default -> number(text);
        };
    }

    private static @Nullable Double number(String text) {
        try {
            return Double.valueOf(text);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /**
     * Returns true if a user who types {@code metric} means this sample. The user may omit the prefix {@code millrace_}
     * and a suffix such as {@code _total} of a counter or {@code _bucket} of a histogram. Labels may follow the name, as
     * in {@code requests{result="hit"}}: the sample must have each of them.
     */
    public boolean isOf(String metric) {
        String wanted = nameIn(metric);
        return (isNamed(wanted) || isNamed("millrace_" + wanted)) && hasLabels(metric, wanted.length());
    }

    /** Returns the name in a text that a user types, without the labels. */
    public static String nameIn(String metric) {
        int brace = metric.indexOf('{');
        return brace < 0 ? metric : metric.substring(0, brace);
    }

    private boolean hasLabels(String metric, int from) {
        if (from == metric.length()) {
            return true;
        }
        Map<String, String> wanted = new LinkedHashMap<>();
        return labels(metric, from + 1, wanted) == metric.length()
                && labels.entrySet().containsAll(wanted.entrySet());
    }

    private boolean isNamed(String metric) {
        if (!name.startsWith(metric)) {
            return false;
        }
        return switch (name.substring(metric.length())) {
            case "", "_total", "_bucket", "_sum", "_count", "_max", "_info" -> true;
            default -> false;
        };
    }
}
