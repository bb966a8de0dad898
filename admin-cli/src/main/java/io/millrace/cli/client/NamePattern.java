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

    /**
     * Whether it is found in a text.
     *
     * @throws IllegalArgumentException if the text is too long for the expression
     */
    public boolean isIn(String text) {
        try {
            return pattern.matcher(text).find();
        } catch (StackOverflowError e) {
            // The matcher recurses for each repetition of a group; nothing of it is kept.
            throw new IllegalArgumentException(
                    "the expression " + pattern + " is too much for a text of " + text.length() + " characters", e);
        }
    }
}
