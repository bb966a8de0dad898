package io.millrace.proxy.config.value;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.List;

/**
 * Compiles regular expressions from untrusted sources. Stateless.
 *
 * <p>The library RE2/J expands repetitions before it builds the program, so a short text can need an unlimited amount
 * of memory. Its compiler and matcher are recursive, so a large program could overflow the stack. Therefore this class
 * estimates the size of the program from the text, and refuses a large one before the library compiles it. No other
 * class compiles expressions.
 */
public final class Regex {
    /** Limit of characters in one expression. */
    public static final int LENGTH_MAX = 64 << 10;

    /** Limit of program steps of one expression, with repetitions expanded: about 1 MiB of memory. */
    public static final int STEPS_MAX = 20_000;

    /** Limit of program steps that read no character; the matcher follows them by recursion. */
    public static final int BRANCHES_MAX = 4_000;

    /** Limit of nested groups. */
    public static final int NESTING_MAX = 100;

    /** Limit of program steps of all expressions in a configuration: about 50 MiB of memory. */
    public static final int TOTAL_STEPS_MAX = 1_000_000;

    private Regex() {}

    /**
     * Compiles an expression.
     *
     * @param flags flags of the library
     * @throws PatternSyntaxException if the text is not an expression or exceeds a limit; the description contains the
     *     limit
     */
    public static Pattern compile(String text, int flags) {
        steps(text);
        try {
            return Pattern.compile(text, flags);
        } catch (StackOverflowError e) {
            // The compiler handles a long range such as {0,1000} as nested groups, so its recursion can be too deep.
            throw new PatternSyntaxException("repetitions are nested too deeply for the compiler", shown(text));
        }
    }

    /** Like {@link #compile(String, int)}, without flags. */
    public static Pattern compile(String text) {
        return compile(text, 0);
    }

    /**
     * Returns an upper bound of the program's steps.
     *
     * @throws PatternSyntaxException if a limit is exceeded
     */
    static int steps(String text) {
        if (text.length() > LENGTH_MAX) {
            throw tooLarge(text, text.length() + " characters", LENGTH_MAX);
        }
        RegexSize size = new RegexSize(text);
        size.measure();
        if (size.nesting() > NESTING_MAX) {
            throw tooLarge(text, "groups nested " + size.nesting() + " deep", NESTING_MAX);
        }
        if (size.steps() > STEPS_MAX) {
            throw tooLarge(text, "a program of " + shown(size.steps()) + " steps with its repetitions", STEPS_MAX);
        }
        if (size.branches() > BRANCHES_MAX) {
            throw tooLarge(
                    text, "a program of " + shown(size.branches()) + " branches with its repetitions", BRANCHES_MAX);
        }
        return (int) size.steps();
    }

    /** Returns the total steps of several expressions that were compiled before. */
    public static long steps(List<String> texts) {
        return texts.stream().mapToLong(Regex::steps).sum();
    }

    private static PatternSyntaxException tooLarge(String text, String actual, int limit) {
        return new PatternSyntaxException("it has " + actual + ", the limit is " + limit, shown(text));
    }

    private static String shown(long steps) {
        return steps >= RegexSize.SATURATED ? "more than " + RegexSize.SATURATED : Long.toString(steps);
    }

    /** Returns the beginning of an expression, for messages. */
    public static String shown(String text) {
        return text.length() <= 200 ? text : text.substring(0, 200) + "…";
    }
}
