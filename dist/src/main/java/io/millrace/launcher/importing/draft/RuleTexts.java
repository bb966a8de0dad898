package io.millrace.launcher.importing.draft;

/** Checks and texts for elements of {@code rules}. Stateless. */
public final class RuleTexts {
    /** Reason for values with variables, which are not mapped. */
    public static final String CONSTANT = "values of rules are constant: set the field at the origin";

    private RuleTexts() {}

    /** Returns true if a field name can be a key of the draft. A name with a dot cannot. */
    public static boolean isFieldName(String name) {
        return name.matches("[A-Za-z0-9][A-Za-z0-9_-]*");
    }

    /** Returns the literal of an expression for a text, in double quotes. */
    public static String literal(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
