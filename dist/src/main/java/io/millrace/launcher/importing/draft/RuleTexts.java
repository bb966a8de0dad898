package io.millrace.launcher.importing.draft;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;

/** Checks and texts for elements of {@code rules}. Stateless. */
public final class RuleTexts {
    /** Reason for values with variables, which are not mapped. */
    public static final String CONSTANT = "values of rules are constant: set the field at the origin";

    private RuleTexts() {}

    /** Returns true if a field name can be a key of the draft. A name with a dot cannot. */
    public static boolean isFieldName(String name) {
        return name.matches("[A-Za-z0-9][A-Za-z0-9_-]*");
    }

    /**
     * Returns true if a regular expression of another proxy is also valid in RE2 syntax. Conditions combine
     * expressions, so an invalid expression would make other conditions invalid too.
     */
    public static boolean isRe2(String expression) {
        try {
            Pattern.compile(expression);
            return true;
        } catch (PatternSyntaxException e) {
            return false;
        }
    }

    /** Escapes a text, and returns the regular expression that matches exactly this text. */
    public static String quoted(String text) {
        return text.replaceAll("([.?+*()\\[\\]{}|^$\\\\])", "\\\\$1");
    }

    /** Returns a text as a string literal for conditions of {@code rules}, in double quotes and escaped. */
    public static String literal(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
