package io.millrace.cli.command;

import java.time.Duration;
import java.util.Map;
import java.util.Stack;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.TypeConversionException;

/**
 * Converts the value of {@code --watch}: seconds, such as {@code 5} or {@code 0.5}. The value is optional: if the next
 * argument is not a number, the default applies.
 */
public final class WatchInterval implements ITypeConverter<Duration>, IParameterPreprocessor {
    static final String DEFAULT_SECONDS = "2";

    private static final double SECONDS_MIN = 0.1;
    private static final double SECONDS_MAX = 86_400;

    @Override
    public Duration convert(String value) {
        double seconds = seconds(value);
        if (!(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX)) {
            throw new TypeConversionException("'" + value + "' is not a number of seconds from 0.1 to 86400");
        }
        return Duration.ofMillis(Math.round(seconds * 1000));
    }

    private static double seconds(String value) {
        try {
            return Double.parseDouble(value.endsWith("s") ? value.substring(0, value.length() - 1) : value);
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    @Override
    @SuppressWarnings("JdkObsolete") // Picocli's signature
    public boolean preprocess(Stack<String> arguments, CommandSpec command, ArgSpec option, Map<String, Object> info) {
        boolean attached = "=".equals(info.get("separator"));
        if (!attached && (arguments.isEmpty() || Double.isNaN(seconds(arguments.peek())))) {
            arguments.push(DEFAULT_SECONDS);
        }
        return false;
    }
}
