package io.millrace.cli.command.server;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option value such as {@code 90s}, {@code 10m}, {@code 2h} or {@code 7d}, at most a year. */
final class DowntimeConverter implements ITypeConverter<Duration> {
    private static final Duration MAX = Duration.ofDays(365);
    private static final int DIGITS_MAX = 8;

    @Override
    public Duration convert(String value) {
        int digits = 0;
        while (digits < value.length() && value.charAt(digits) >= '0' && value.charAt(digits) <= '9') {
            digits++;
        }
        Duration duration = Duration.ZERO;
        if (digits > 0 && digits <= DIGITS_MAX) {
            long number = Long.parseLong(value.substring(0, digits));
            duration = switch (value.substring(digits)) {
                case "s" -> Duration.ofSeconds(number);
                case "m" -> Duration.ofMinutes(number);
                case "h" -> Duration.ofHours(number);
                case "d" -> Duration.ofDays(number);
                default -> Duration.ZERO;
            };
        }
        if (duration.isZero() || duration.compareTo(MAX) > 0) {
            throw new TypeConversionException(
                    "'" + value + "' is not a duration: expected at most 365d, such as 90s, 10m, 2h or 7d");
        }
        return duration;
    }
}
