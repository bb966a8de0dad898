package io.millrace.proxy.observe.log;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Writes the arrival time of the request in UTC, in a given pattern. Caches the text for one second. Confined to one
 * thread.
 */
final class LogTimes implements LogTemplate.Piece {
    private final DateTimeFormatter formatter;
    private long formattedSecond = Long.MIN_VALUE;
    private byte[] formatted = {};

    LogTimes(String pattern) {
        formatter = DateTimeFormatter.ofPattern(pattern, Locale.ROOT);
    }

    @Override
    public void append(LoggedRecord logged, LineBuffer out) {
        long second = Math.floorDiv(logged.receivedAtMillis(), 1000L);
        if (second != formattedSecond) {
            formattedSecond = second;
            formatted = formatter
                    .format(Instant.ofEpochSecond(second).atOffset(ZoneOffset.UTC))
                    .getBytes(StandardCharsets.US_ASCII);
        }
        out.put(formatted);
    }
}
