package io.millrace.launcher.squid;

import io.millrace.launcher.importing.draft.RuleTexts;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Converts POSIX extended regular expressions, which Squid uses, to RE2 syntax. Stateless. */
final class PosixExpression {
    /** Reason for an expression without an equivalent. */
    static final String NO_EQUIVALENT =
            "RE2 does not have a part of this POSIX expression, or gives it another meaning";

    /** An interval such as {@code {2,3}}. */
    private static final Pattern INTERVAL = Pattern.compile("\\{\\d+(,\\d*)?}");

    /** Escaped letters that mean the same in RE2 and in the regular expressions of the C library. */
    private static final String SAME_LETTERS = "wWsSbB";

    private PosixExpression() {}

    /** Returns the expression in RE2 syntax with the same meaning. Returns null if there is none. */
    static @Nullable String toRe2(String expression, boolean ignoreCase) {
        StringBuilder out = new StringBuilder(ignoreCase ? "(?i)" : "");
        Matcher interval = INTERVAL.matcher(expression);
        boolean repeated = false;
        int i = 0;
        while (i < expression.length()) {
            char c = expression.charAt(i);
            boolean counted = c == '{' && interval.find(i) && interval.start() == i;
            boolean repeats = c == '*' || c == '+' || c == '?' || counted;
            boolean group = c == '(' && expression.startsWith("(?", i);
            // In POSIX, a second quantifier applies to the expression together with its first quantifier. In RE2, it
            // makes the first one prefer short matches.
            if ((c == '{' && !counted) || group || (repeats && repeated)) {
                return null;
            }
            repeated = repeats;
            if (counted) {
                out.append(interval.group());
                i = interval.end();
            } else if (c == '[') {
                int end = bracketEnd(expression, i);
                String bracket = end < 0 ? null : bracket(expression.substring(i, end));
                if (bracket == null) {
                    return null;
                }
                out.append(bracket);
                i = end;
            } else if (c == '\\') {
                char next = i + 1 < expression.length() ? expression.charAt(i + 1) : 0;
                if (next <= ' ' || next > '~' || "<>`'".indexOf(next) >= 0) {
                    return null;
                }
                if (Character.isLetterOrDigit(next) && SAME_LETTERS.indexOf(next) < 0) {
                    return null;
                }
                out.append(c).append(next);
                i += 2;
            } else {
                out.append(c == '}' ? "\\}" : String.valueOf(c));
                i++;
            }
        }
        String converted = out.toString();
        return RuleTexts.isRe2(converted) ? converted : null;
    }

    /** Returns the index after a bracket expression; -1 if it does not end. */
    private static int bracketEnd(String expression, int start) {
        int i = start + 1;
        i += expression.startsWith("^", i) ? 1 : 0;
        i += expression.startsWith("]", i) ? 1 : 0;
        while (i < expression.length() && expression.charAt(i) != ']') {
            int named = expression.startsWith("[:", i) ? expression.indexOf(":]", i + 2) : -1;
            i = named < 0 ? i + 1 : named + 2;
        }
        return i < expression.length() ? i + 1 : -1;
    }

    /** Converts a bracket expression, in which a backslash is ordinary. Returns null if it has no equivalent. */
    private static @Nullable String bracket(String text) {
        if (text.contains("[.") || text.contains("[=")) {
            return null;
        }
        boolean negated = text.startsWith("[^");
        String members = text.substring(negated ? 2 : 1, text.length() - 1);
        String first = members.startsWith("]") ? "\\]" : "";
        return (negated ? "[^" : "[") + first
                + members.substring(first.isEmpty() ? 0 : 1).replace("\\", "\\\\") + "]";
    }
}
