package io.millrace.proxy.config.value;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.List;

/**
 * Compiles regular expressions that come from outside. No state.
 *
 * <p>The library unfolds repetitions before it builds the program, so that a short text can need any amount of memory. Its
 * compiler and its matcher recurse. This class therefore estimates the program from the text and refuses what is too large before
 * the library sees it. No other class compiles expressions.
 */
public final class Regex {
    /** Characters in one expression. */
    public static final int LENGTH_MAX = 64 << 10;

    /** Steps of the program of one expression, with repetitions unfolded: about 1 MiB of memory. */
    public static final int STEPS_MAX = 20_000;

    /** Of the steps: those that read no character, which the matcher follows by recursion. */
    public static final int BRANCHES_MAX = 4_000;

    /** Groups within groups. */
    public static final int NESTING_MAX = 100;

    /** Steps of all expressions of one configuration: about 50 MiB of memory. */
    public static final int TOTAL_STEPS_MAX = 1_000_000;

    private Regex() {}

    /**
     * Compiles an expression.
     *
     * @param flags of the library
     * @throws PatternSyntaxException if it is none or is above a limit, which the description names
     */
    public static Pattern compile(String text, int flags) {
        steps(text);
        try {
            return Pattern.compile(text, flags);
        } catch (StackOverflowError e) {
            // Long ranges such as {0,1000} are groups within groups to the compiler. It keeps nothing.
            throw new PatternSyntaxException("repetitions are nested too deeply for the compiler", shown(text));
        }
    }

    /** As {@link #compile(String, int)} without flags. */
    public static Pattern compile(String text) {
        return compile(text, 0);
    }

    /**
     * Upper bound of the program's steps.
     *
     * @throws PatternSyntaxException if a limit is passed
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

    /** Steps of several expressions, of which each was compiled before. */
    public static long steps(List<String> texts) {
        return texts.stream().mapToLong(Regex::steps).sum();
    }

    private static PatternSyntaxException tooLarge(String text, String actual, int limit) {
        return new PatternSyntaxException("it has " + actual + ", the limit is " + limit, shown(text));
    }

    private static String shown(long steps) {
        return steps >= RegexSize.SATURATED ? "more than " + RegexSize.SATURATED : Long.toString(steps);
    }

    /** The beginning of an expression, for messages. */
    public static String shown(String text) {
        return text.length() <= 200 ? text : text.substring(0, 200) + "…";
    }
}
