package io.millrace.cli.client;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * An expression that is looked for anywhere in a text. A class of its own, since loading expressions costs every start that does
 * not need them. Immutable.
 */
public final class NamePattern {
    private final Pattern pattern;

    private NamePattern(Pattern pattern) {
        this.pattern = pattern;
    }

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException if it is none; its message says where
     */
    public static NamePattern of(String expression) {
        try {
            return new NamePattern(Pattern.compile(expression));
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "not an expression: " + expression + " (" + e.getDescription()
                            + (e.getIndex() < 0 ? "" : " at " + (e.getIndex() + 1)) + ")",
                    e);
        }
    }

    /** Whether it is found in a text. */
    public boolean isIn(String text) {
        return pattern.matcher(text).find();
    }
}
