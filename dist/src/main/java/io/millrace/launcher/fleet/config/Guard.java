package io.millrace.launcher.fleet.config;

import io.millrace.launcher.fleet.config.RefusedRevisionException.Reason;
import io.millrace.launcher.history.TrafficSample;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A condition on a figure of a canary node, such as {@code hit_ratio>80}. Immutable.
 *
 * @param isAbove whether the figure must be above the limit; otherwise it must be below
 * @param limit as written
 */
public record Guard(Figure figure, boolean isAbove, String limit) {
    /** A figure of the requests that a node has answered since it applied the revision. */
    public enum Figure {
        /** Percentage of requests that were answered from the cache; none without a request. */
        HIT_RATIO,
        /** Percentage of requests that were answered with an error of this proxy or of the origin (5xx). */
        ERRORS,
        /** Milliseconds within which 99 % of the requests were answered; none without a request. */
        P99_MS,
        /** Number of requests. */
        REQUESTS;

        /** Returns the name in a guard. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final Pattern FORM = Pattern.compile("([a-z0-9_]+)([<>])([0-9]{1,9}(?:\\.[0-9]{1,6})?)");

    /** Reads a guard. */
    public static Guard parse(String text) throws RefusedRevisionException {
        Matcher form = FORM.matcher(text);
        if (form.matches()) {
            for (Figure figure : Figure.values()) {
                if (figure.word().equals(form.group(1))) {
                    return new Guard(figure, form.group(2).equals(">"), form.group(3));
                }
            }
        }
        throw new RefusedRevisionException(
                Reason.MALFORMED,
                "the guard '" + text + "' is not FIGURE>LIMIT or FIGURE<LIMIT with one of the figures"
                        + " hit_ratio, errors, p99_ms, requests");
    }

    /** Returns the guard as written. */
    public String text() {
        return figure.word() + (isAbove ? ">" : "<") + limit;
    }

    /** Returns the figure, its value and the limit if the condition does not hold; null if it holds. */
    @Nullable
    String failure(TrafficSample traffic) {
        double value =
                switch (figure) {
                    case HIT_RATIO -> traffic.hitPercent();
                    case ERRORS -> traffic.errorPercent();
                    case P99_MS -> traffic.p99Millis();
                    case REQUESTS -> traffic.requests();
                };
        if (Double.isNaN(value)) {
            return figure.word() + " has no value, because there was no request; the guard is " + text();
        }
        double bound = Double.parseDouble(limit);
        boolean holds = isAbove ? value > bound : value < bound;
        return holds ? null : figure.word() + " is " + shown(value) + ", the guard is " + text();
    }

    private static String shown(double value) {
        if (Double.isInfinite(value)) {
            return "above 50000";
        }
        return value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.2f", value);
    }
}
