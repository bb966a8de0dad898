package io.millrace.launcher.varnish.syntax;

import java.util.ArrayList;
import java.util.List;

/** A condition of an {@code if} statement. Immutable. */
public sealed interface Condition {
    /** Limit of alternatives of one condition. */
    int ALTERNATIVES_MAX = 64;

    /** The alternatives of a condition with too many of them. */
    List<List<Test>> TOO_MANY =
            List.of(List.of(new Test("more than " + ALTERNATIVES_MAX + " combinations of tests", "", "", false)));

    /**
     * A comparison, or the test of one value.
     *
     * @param left the text of the left side, such as {@code req.url}
     * @param operator {@code ==}, {@code ~} and so on; empty for a test of one value, {@code !} for its negation
     * @param right the text of the right side, without quotes
     * @param quoted whether the right side is a string
     */
    record Test(String left, String operator, String right, boolean quoted) implements Condition {
        @Override
        public String toString() {
            return left + (operator.isEmpty() ? "" : " " + operator + " " + right);
        }
    }

    /** A negation. */
    record Not(Condition inner) implements Condition {}

    /** Conditions that must all be true. */
    record All(List<Condition> parts) implements Condition {}

    /** Conditions at least one of which must be true. */
    record Any(List<Condition> parts) implements Condition {}

    /**
     * Converts a condition to alternatives. All tests of an alternative must be true. More than
     * {@link #ALTERNATIVES_MAX} alternatives become one test that has no equivalent, so that callers report the
     * condition.
     */
    static List<List<Test>> alternatives(Condition condition) {
        return alternatives(condition, false);
    }

    private static List<List<Test>> alternatives(Condition condition, boolean negated) {
        if (condition instanceof Not not) {
            return alternatives(not.inner, !negated);
        }
        if (condition instanceof Test test) {
            return List.of(List.of(negated ? negation(test) : test));
        }
        boolean any = condition instanceof Any;
        List<Condition> parts = condition instanceof Any one ? one.parts : ((All) condition).parts;
        List<List<Test>> result = new ArrayList<>();
        if (any != negated) {
            parts.forEach(part -> result.addAll(alternatives(part, negated)));
            return result.size() > ALTERNATIVES_MAX ? TOO_MANY : List.copyOf(result);
        }
        result.add(List.of());
        for (Condition part : parts) {
            List<List<Test>> next = new ArrayList<>();
            for (List<Test> before : result) {
                for (List<Test> more : alternatives(part, negated)) {
                    List<Test> both = new ArrayList<>(before);
                    both.addAll(more);
                    next.add(both);
                }
            }
            if (next.size() > ALTERNATIVES_MAX) {
                return TOO_MANY;
            }
            result.clear();
            result.addAll(next);
        }
        return List.copyOf(result);
    }

    private static Test negation(Test test) {
        String operator =
                switch (test.operator) {
                    case "==" -> "!=";
                    case "!=" -> "==";
                    case "~" -> "!~";
                    case "!~" -> "~";
                    case "<" -> ">=";
                    case ">=" -> "<";
                    case ">" -> "<=";
                    case "<=" -> ">";
                    case "!" -> "";
                    default -> "!";
                };
        return new Test(test.left, operator, test.right, test.quoted);
    }
}
