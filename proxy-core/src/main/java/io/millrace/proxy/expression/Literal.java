package io.millrace.proxy.expression;

import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Units;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Reads and prints the literals of expressions. No state. */
final class Literal {
    private Literal() {}

    /**
     * Parses a number, size or duration.
     *
     * @throws InvalidValueException if the text is not a literal of the type
     */
    static long number(FieldType type, String text) throws InvalidValueException {
        return switch (type) {
            case SIZE -> Units.parseSize(text);
            case DURATION -> Units.parseDuration(text).toNanos();
            default -> integer(type, text);
        };
    }

    private static long integer(FieldType type, String text) throws InvalidValueException {
        if (!text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw new InvalidValueException("'" + text + "' is not " + type.expected());
        }
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new InvalidValueException("'" + text + "' is too large");
        }
    }

    /** Returns the canonical form of a number, size or duration. */
    static String number(Field<?> field, long value) {
        return switch (field.type()) {
            case SIZE -> Units.formatSize(value);
            case DURATION -> Units.formatDuration(Duration.ofNanos(value));
            default -> Long.toString(value);
        };
    }

    /** Returns the text in double quotes, with escapes. */
    static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Returns the problem, followed by the suggestion if there is one. */
    static String withSuggestion(InvalidValueException problem) {
        @Nullable String meant = problem.suggestion();
        return problem.problem() + (meant == null ? "" : " (did you mean " + meant + "?)");
    }
}
