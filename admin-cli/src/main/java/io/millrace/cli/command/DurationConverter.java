package io.millrace.cli.command;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option value such as {@code 500ms}, {@code 10s} or {@code 2m}, at most an hour. */
public final class DurationConverter implements ITypeConverter<Duration> {
    private static final Duration MAX = Duration.ofHours(1);

    @Override
    public Duration convert(String value) {
        int digits = 0;
        while (digits < value.length() && value.charAt(digits) >= '0' && value.charAt(digits) <= '9') {
            digits++;
        }
        Duration duration = Duration.ZERO;
        if (digits > 0 && digits <= 9) {
            long number = Long.parseLong(value.substring(0, digits));
            duration = switch (value.substring(digits)) {
                case "ms" -> Duration.ofMillis(number);
                case "s" -> Duration.ofSeconds(number);
                case "m" -> Duration.ofMinutes(number);
                default -> Duration.ZERO;
            };
        }
        if (duration.isZero() || duration.compareTo(MAX) > 0) {
            throw new TypeConversionException(
                    "'" + value + "' is not a duration: expected at most 60m, such as 500ms, 10s or 2m");
        }
        return duration;
    }
}
