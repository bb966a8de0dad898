package io.millrace.shipped;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A metric in a PromQL expression, with its matchers. Immutable. */
record MetricSelector(String metric, List<LabelMatcher> matchers) {

    /** A condition on a label; the operator is =, !=, =~ or !~. */
    record LabelMatcher(String label, String operator, String value) {}

    private static final Pattern GROUPING =
            Pattern.compile("\\b(?:by|without|on|ignoring|group_left|group_right)\\s*\\(([^)]*)\\)");
    private static final Pattern STRING = Pattern.compile("\"[^\"]*\"");
    private static final Pattern NAME = Pattern.compile("(?<![\\w$.])([a-zA-Z_:][\\w:]*)(\\s*\\()?(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("\\s*(\\w+)\\s*(=~|!~|!=|=)\\s*\"([^\"]*)\"\\s*,?");
    private static final Set<String> KEYWORDS = Set.of(
            "by", "without", "on", "ignoring", "and", "or", "unless", "offset", "bool", "group_left", "group_right");

    /** Returns the metrics of an expression in the order of their appearance. */
    static List<MetricSelector> in(String expression) {
        List<MetricSelector> found = new ArrayList<>();
        String text = GROUPING.matcher(expression)
                .replaceAll(" ")
                .replaceAll("\\[[^\\]]*]", " ")
                .replaceAll("\\boffset\\s+\\w+", " ");
        Matcher name = NAME.matcher(text);
        while (name.find()) {
            if (name.group(2) == null && !KEYWORDS.contains(name.group(1))) {
                found.add(new MetricSelector(name.group(1), matchers(name.group(3))));
            }
        }
        return found;
    }

    /** Returns the labels by which an expression groups its results. */
    static List<String> groupings(String expression) {
        List<String> labels = new ArrayList<>();
        Matcher grouping = GROUPING.matcher(STRING.matcher(expression).replaceAll("\"\""));
        while (grouping.find()) {
            for (String label : grouping.group(1).split(",", -1)) {
                if (!label.isBlank()) {
                    labels.add(label.strip());
                }
            }
        }
        return labels;
    }

    private static List<LabelMatcher> matchers(String text) {
        List<LabelMatcher> matchers = new ArrayList<>();
        if (text == null) {
            return matchers;
        }
        Matcher matcher = MATCHER.matcher(text);
        int end = 0;
        while (matcher.find() && matcher.start() == end) {
            matchers.add(new LabelMatcher(matcher.group(1), matcher.group(2), matcher.group(3)));
            end = matcher.end();
        }
        if (end != text.length()) {
            throw new AssertionError("not understood: {" + text + "}");
        }
        return matchers;
    }
}
