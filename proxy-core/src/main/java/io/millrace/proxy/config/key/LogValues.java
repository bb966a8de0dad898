package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Suggestions;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.expression.logged.LoggedFields;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.LogTemplateException;
import io.millrace.proxy.observe.log.output.LogDestination;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parsers of the values below {@code log.access[]}. No state. */
final class LogValues {
    private static final int NAME_MAX = 32;

    /** Limit of APP-NAME in RFC 5424 s6. */
    private static final int APP_NAME_MAX = 48;

    private static final int EXTENSION_NAME_MAX = 64;

    private LogValues() {}

    @SuppressWarnings("unchecked") // The class of a generic type is its raw class.
    static Class<Expression<LoggedFacts>> filterClass() {
        return (Class<Expression<LoggedFacts>>) (Class<?>) Expression.class;
    }

    static Expression<LoggedFacts> readFilter(String text) throws InvalidValueException {
        try {
            return Expression.parse(text, LoggedFields.SCHEMA);
        } catch (ExpressionException e) {
            throw new InvalidValueException("position " + e.message());
        }
    }

    static List<String> readFields(String text) throws InvalidValueException {
        List<String> codes = ValueReaders.readNames(text);
        for (String code : codes) {
            if (code.indexOf('>') >= 0 || code.indexOf('<') >= 0) {
                throw new InvalidValueException("'" + code + "' is not a code; write it without %<>");
            }
            checkBinaryFields(List.of(code), "'" + code + "' is not the code of a log field");
        }
        checkBinaryFields(codes, null);
        return codes;
    }

    private static void checkBinaryFields(List<String> codes, @Nullable String message) throws InvalidValueException {
        try {
            AccessLogFormat.binary(codes);
        } catch (LogTemplateException e) {
            throw new InvalidValueException(
                    message == null ? String.valueOf(e.getMessage()) : message,
                    Suggestions.closest(e.unknownWord(), e.validWords()));
        }
    }

    static String readName(String text) throws InvalidValueException {
        boolean valid = !text.isEmpty()
                && text.length() <= NAME_MAX
                && text.chars().allMatch(c -> c != '.' && isNameCharacter(c));
        if (!valid) {
            throw new InvalidValueException(
                    "'" + text + "' is not a name of 1 to " + NAME_MAX + " letters, digits, '_' and '-'");
        }
        return text;
    }

    private static boolean isNameCharacter(int c) {
        return c < 0x80 && (Character.isLetterOrDigit(c) || c == '_' || c == '-' || c == '.');
    }

    static LogDestination.Target readTarget(String text) throws InvalidValueException {
        LogDestination.Target target = LogDestination.Target.of(text);
        if (target == null) {
            throw new InvalidValueException(
                    "'" + text + "' is none of " + LogDestination.Target.WORDS,
                    Suggestions.closest(text, List.of("file", "syslog", "journald", "stdout")));
        }
        String name = target.extension();
        if (name != null) {
            boolean valid = !name.isEmpty()
                    && name.length() <= EXTENSION_NAME_MAX
                    && name.chars().allMatch(c -> c != '.' && isNameCharacter(c));
            if (!valid) {
                throw new InvalidValueException("'" + name + "' is not the name of an extension");
            }
        }
        return target;
    }

    static String readAppName(String text) throws InvalidValueException {
        boolean valid =
                !text.isEmpty() && text.length() <= APP_NAME_MAX && text.chars().allMatch(LogValues::isNameCharacter);
        if (!valid) {
            throw new InvalidValueException(
                    "'" + text + "' is not a name of 1 to " + APP_NAME_MAX + " letters, digits, '_', '-' and '.'");
        }
        return text;
    }
}
