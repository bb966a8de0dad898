package io.millrace.proxy.admin.history;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminRequest;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses query parameters with times. */
final class TimeParameter {
    private static final Pattern SPAN = Pattern.compile("(\\d{1,9})(s|m|min|h|d)");
    private static final Pattern SECONDS = Pattern.compile("\\d{1,11}");
    private static final Map<String, Integer> UNIT_SECONDS = Map.of("s", 1, "m", 60, "min", 60, "h", 3600, "d", 86_400);

    private TimeParameter() {}

    /**
     * Parses a point in time and returns epoch milliseconds. The parameter is seconds since 1970, a time such as
     * 2026-11-28T10:00:00Z, or a span before now such as 1h.
     *
     * @param defaultValue the result without the parameter
     */
    static long millis(AdminRequest request, String name, long nowMillis, long defaultValue) throws AdminException {
        String text = request.optionalParameter(name);
        if (text == null) {
            return defaultValue;
        }
        if (SECONDS.matcher(text).matches()) {
            return Long.parseLong(text) * 1000;
        }
        Matcher span = SPAN.matcher(text);
        if (span.matches()) {
            return nowMillis - spanSeconds(span) * 1000;
        }
        try {
            return Instant.parse(text).toEpochMilli();
        } catch (DateTimeParseException | ArithmeticException e) {
            throw new AdminException(
                    400,
                    "bad-request",
                    name + ": '" + text + "' is not a time, expected seconds since 1970, a time such as"
                            + " 2026-11-28T10:00:00Z, or a span before now such as 90s, 15min, 1h or 7d");
        }
    }

    /** Returns a span in seconds, such as 10, 10s or 1min. */
    static long seconds(AdminRequest request, String name, long defaultValue) throws AdminException {
        String text = request.optionalParameter(name);
        if (text == null) {
            return defaultValue;
        }
        Matcher span = SPAN.matcher(text);
        if (span.matches()) {
            return spanSeconds(span);
        }
        if (SECONDS.matcher(text).matches()) {
            return Long.parseLong(text);
        }
        throw new AdminException(
                400, "bad-request", name + ": '" + text + "' is not a span of time, expected for example 10s or 1min");
    }

    private static long spanSeconds(Matcher span) {
        return Long.parseLong(span.group(1)) * Objects.requireNonNull(UNIT_SECONDS.get(span.group(2)));
    }
}
