package io.millrace.worker.traces;

import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The answer of the collector to one request. Immutable.
 *
 * @param status the HTTP status
 * @param retryAfterNanos the value of Retry-After; -1 without a valid one
 * @param partial the content of a successful answer
 */
record OtlpAnswer(int status, long retryAfterNanos, PartialSuccess partial) {
    private static final int SUCCESS_MIN = 200;
    private static final int SUCCESS_MAX = 299;

    boolean isSuccess() {
        return status >= SUCCESS_MIN && status <= SUCCESS_MAX;
    }

    /** Returns true for the four statuses after which OTLP asks to repeat the request. */
    boolean isRetryable() {
        return switch (status) {
            case 429, 502, 503, 504 -> true;
            default -> false;
        };
    }

    /** Converts a value of Retry-After (seconds or a date) to nanoseconds; -1 if it is absent or invalid. */
    static long retryAfterNanos(@Nullable String field, Instant now) {
        if (field == null || field.isBlank()) {
            return -1;
        }
        String value = field.strip();
        try {
            if (Character.isDigit(value.charAt(0))) {
                return TimeUnit.SECONDS.toNanos(Long.parseLong(value));
            }
            Instant until = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            return TimeUnit.MILLISECONDS.toNanos(Math.max(0, until.toEpochMilli() - now.toEpochMilli()));
        } catch (NumberFormatException | DateTimeParseException e) {
            return -1;
        }
    }
}
