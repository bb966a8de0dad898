package io.millrace.cli.client;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * A regular expression that is searched for in texts, with limits on its length and on the search effort. This class
 * is separate, so that commands without expressions do not load {@code java.util.regex} at start. Immutable.
 */
public final class NamePattern {
    /** Limit of characters in one expression. */
    static final int LENGTH_MAX = 64 << 10;

    /** Limit of characters that an error message quotes of an expression. */
    static final int QUOTED_MAX = 200;

    /**
     * Character reads allowed in one search. Nested repetitions may read each character very often (catastrophic
     * backtracking).
     */
    static final long STEPS_MAX = 50_000_000;

    private final Pattern pattern;

    private NamePattern(Pattern pattern) {
        this.pattern = pattern;
    }

    /**
     * Compiles a regular expression.
     *
     * @throws IllegalArgumentException if the text is not a regular expression; the message contains the position
     */
    public static NamePattern of(String expression) {
        if (expression.length() > LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "the expression has " + expression.length() + " characters, the limit is " + LENGTH_MAX);
        }
        try {
            return new NamePattern(Pattern.compile(expression));
        } catch (StackOverflowError e) {
            // The compiler recurses for each nested group. The partly compiled pattern is discarded.
            throw new IllegalArgumentException("the groups of the expression are nested too deeply", e);
        } catch (PatternSyntaxException e) {
            if (e.getDescription().startsWith("Stack overflow")) {
                throw new IllegalArgumentException("the groups of the expression are nested too deeply", e);
            }
            throw new IllegalArgumentException(
                    "not a regular expression: " + quoted(expression) + " (" + e.getDescription()
                            + (e.getIndex() < 0 ? "" : " at " + (e.getIndex() + 1)) + ")",
                    e);
        }
    }

    private static String quoted(String expression) {
        return expression.length() <= QUOTED_MAX ? expression : expression.substring(0, QUOTED_MAX) + "...";
    }

    /**
     * Returns true if the expression matches a part of the text.
     *
     * @throws IllegalArgumentException if the search needs too much stack or too many steps
     */
    public boolean isFoundIn(String text) {
        try {
            return pattern.matcher(new StepLimitedText(text)).find();
        } catch (StackOverflowError e) {
            // The matcher recurses for each repetition of a group. The search is abandoned.
            throw new IllegalArgumentException(
                    "the expression " + quoted(pattern.pattern()) + " needs too much stack for a text of "
                            + text.length() + " characters",
                    e);
        }
    }

    /** A text that makes the search fail after too many character reads. Confined to one thread. */
    private static final class StepLimitedText implements CharSequence {
        private final String text;
        private long steps;

        StepLimitedText(String text) {
            this.text = text;
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int index) {
            if (++steps > STEPS_MAX) {
                throw new IllegalArgumentException(
                        "the expression needs more than " + STEPS_MAX + " steps for a text of " + text.length()
                                + " characters; avoid nested repetitions such as (a+)+");
            }
            return text.charAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.substring(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
