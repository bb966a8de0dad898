package io.millrace.launcher.nginx.request;

import io.millrace.launcher.importing.draft.RuleTexts;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Conditions for the value of a query parameter or a cookie. nginx tests the first parameter or cookie with the name,
 * and ignores the case of names. In rules, {@code param} and {@code cookie} are case-sensitive, and a condition is true
 * if any one of several values meets it. The conditions therefore test the whole query, or the whole field Cookie.
 * Immutable.
 *
 * @param field the field of rules that contains all names and values
 * @param anywhere expression for the text before the value of any occurrence
 * @param before expression for the text up to the value of the first occurrence
 * @param stop the character that ends a value
 * @param notFirst characters that cannot be the first of a value
 */
record FirstValue(String field, String anywhere, String before, char stop, String notFirst) {
    /** Limit of a name's length: the expression has a group for each character. */
    private static final int NAME_MAX = 40;

    /** Expressions that cannot match the end of a value. A dot is permitted too, since it is replaced later. */
    private static final Pattern WITHIN_VALUE = Pattern.compile("(?:[A-Za-z0-9/_~%=@!:-]|\\\\[./_+dw-]|[.()|?*+]"
            + "|\\(\\?:|\\[[A-Za-z0-9/_-]+]|\\{\\d{1,3}(?:,\\d{0,3})?})*");

    /** Returns the value of {@code $arg_NAME}. Returns null if the name is too long. */
    static @Nullable FirstValue parameter(String name) {
        if (name.length() > NAME_MAX) {
            return null;
        }
        String others = others(name, "[^=&][^&]*", "&", "&");
        return new FirstValue("query", "(?i)(?:^|&)" + name + "=", "(?i)^(?:" + others + "&)*" + name + "=", '&', "&");
    }

    /** Returns the value of {@code $cookie_NAME}. Returns null if the name is too long. */
    static @Nullable FirstValue cookie(String name) {
        if (name.length() > NAME_MAX) {
            return null;
        }
        String others = others(name, " *(?:[^ =;,][^;,]*)?", ";, ", ";,");
        String end = name + " *= *";
        return new FirstValue(
                "request_header[\"Cookie\"]",
                "(?i)(?:^|[;,] *)" + end,
                "(?i)^(?:" + others + "[;,] *)*" + end,
                ';',
                "; ");
    }

    /**
     * Returns an expression for parameters or cookies, such as {@code name=value}, with any other name. RE2 has no
     * look-ahead, so that the expression lists the characters that can follow each beginning of the name.
     *
     * @param end expression for what can follow the whole name
     * @param first characters that cannot be the first of a part
     * @param stops characters that end a part
     */
    private static String others(String name, String end, String first, String stops) {
        String rest = "(?:" + end + ")?";
        for (int i = name.length() - 1; i >= 0; i--) {
            char c = name.charAt(i);
            String other = "[^" + c + (i == 0 ? first : stops) + "][^" + stops + "]*";
            rest = "(?:" + other + "|" + c + rest + ")?";
        }
        return rest;
    }

    /**
     * Returns the condition of rules for a test. Returns null if it has no equivalent. A test of the variable alone
     * is true for any value but 0. Its expression tests every occurrence of the name instead of the first one. The
     * expression is therefore short, but it may match more requests than in nginx.
     */
    @Nullable
    String when(Conditions.Condition condition) {
        String operator = condition.operator();
        String right = condition.value();
        if (operator.isEmpty()) {
            String value = "(?:[^0" + notFirst + "]|0[^" + stop + "])";
            return field + " =~ " + RuleTexts.literal(anywhere + value);
        }
        boolean negated = operator.startsWith("!");
        if (right.isEmpty() || right.equals("^$")) {
            String any = matches("[^" + notFirst + "]");
            return negated ? any : "!(" + any + ")";
        }
        String positive = operator.contains("~")
                ? expression(right, operator.endsWith("*"))
                : right.matches("[ -~]+") && right.indexOf(stop) < 0
                        ? matches("(?-i:" + RuleTexts.quoted(right) + ")(?:" + stop + "|$)")
                        : null;
        return positive == null || !negated ? positive : "!(" + positive + ")";
    }

    private @Nullable String expression(String value, boolean ignoresCase) {
        boolean start = value.startsWith("^");
        boolean end = value.endsWith("$") && !value.endsWith("\\$");
        String core = value.substring(start ? 1 : 0, value.length() - (end ? 1 : 0));
        boolean alternatives = core.replaceAll("\\([^()]*\\)", "").contains("|");
        if (!WITHIN_VALUE.matcher(core).matches() || (alternatives && (start || end)) || !RuleTexts.isRe2(value)) {
            return null;
        }
        String within = core.replaceAll("(?<!\\\\)\\.", "[^" + stop + "]");
        String found = matches((start ? "" : "[^" + stop + "]*") + (ignoresCase ? "(?i:" : "(?-i:") + within + ")"
                + (end ? "(?:" + stop + "|$)" : ""));
        // For nginx, a missing value is empty.
        boolean isFoundInEmpty = Pattern.compile(value).matcher("").find();
        return isFoundInEmpty ? "(!(" + matches("") + ") || " + found + ")" : found;
    }

    private String matches(String value) {
        return field + " =~ " + RuleTexts.literal(before + value);
    }
}
