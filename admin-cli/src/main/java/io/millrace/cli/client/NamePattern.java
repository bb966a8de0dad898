package io.millrace.cli.client;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * An expression that is looked for anywhere in a text. A class of its own, since loading expressions costs every start that does
 * not need them. Immutable.
 */
public final class NamePattern {
    /** Characters in one expression. */
    static final int LENGTH_MAX = 64 << 10;

    /** Characters of an expression that a message quotes. */
    static final int QUOTED_MAX = 200;

    /** Characters that one search may look at: some nested repetitions look at each very often. */
    static final long LOOKS_MAX = 50_000_000;

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
        if (expression.length() > LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "the expression has " + expression.length() + " characters, the limit is " + LENGTH_MAX);
        }
        try {
            return new NamePattern(Pattern.compile(expression));
        } catch (StackOverflowError e) {
            // The compiler recurses for each group in a group; nothing of it is kept.
            throw new IllegalArgumentException("the groups of the expression are nested too deeply", e);
        } catch (PatternSyntaxException e) {
            if (e.getDescription().startsWith("Stack overflow")) {
                throw new IllegalArgumentException("the groups of the expression are nested too deeply", e);
            }
            throw new IllegalArgumentException(
                    "not an expression: " + quoted(expression) + " (" + e.getDescription()
                            + (e.getIndex() < 0 ? "" : " at " + (e.getIndex() + 1)) + ")",
                    e);
        }
    }

    private static String quoted(String expression) {
        return expression.length() <= QUOTED_MAX ? expression : expression.substring(0, QUOTED_MAX) + "...";
    }

    /**
     * Whether it is found in a text.
     *
     * @throws IllegalArgumentException if the text is too much for the expression
     */
    public boolean isIn(String text) {
        try {
            return pattern.matcher(new CountedText(text)).find();
        } catch (StackOverflowError e) {
            // The matcher recurses for each repetition of a group; nothing of it is kept.
            throw new IllegalArgumentException(
                    "the expression " + quoted(pattern.pattern()) + " is too much for a text of " + text.length()
                            + " characters",
                    e);
        }
    }

    /** A text that ends a search which looks at it too often. Confined to one thread. */
    private static final class CountedText implements CharSequence {
        private final String text;
        private long looks;

        CountedText(String text) {
            this.text = text;
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int index) {
            if (++looks > LOOKS_MAX) {
                throw new IllegalArgumentException(
                        "the expression needs more than " + LOOKS_MAX + " steps for a text of " + text.length()
                                + " characters; repetitions within repetitions do that");
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
