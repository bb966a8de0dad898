package io.millrace.cli.log;

import io.millrace.cli.client.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * Parses lines of access logs in the formats {@code squid}, {@code common}, {@code combined} and {@code json}. Each
 * line is parsed independently, so the format may change within a file. Stateless.
 */
public final class LogParser {
    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
    private static final int SQUID_WORDS = 10;

    private LogParser() {}

    /** Parses a line; returns null if no format matches. */
    public static @Nullable LogLine parse(String line) {
        if (line.isEmpty()) {
            return null;
        }
        if (line.charAt(0) == '{') {
            return json(line);
        }
        LogLine squid = squid(line);
        return squid == null ? combined(line) : squid;
    }

    /** Parses {@code 1700000000.123 4 192.0.2.7 TCP_MEM_HIT/200 1720 GET http://a/ - NONE/- text/html}. */
    private static @Nullable LogLine squid(String line) {
        String[] words = new String[SQUID_WORDS];
        int count = 0;
        int at = 0;
        while (at < line.length() && count < SQUID_WORDS) {
            int end = line.indexOf(' ', at);
            end = end < 0 ? line.length() : end;
            if (end > at) {
                words[count++] = line.substring(at, end);
            }
            at = end + 1;
        }
        if (count < SQUID_WORDS) {
            return null;
        }
        long time = millis(words[0]);
        int slash = words[3].indexOf('/');
        long duration = number(words[1]);
        if (time < 0 || duration < 0 || slash < 0) {
            return null;
        }
        String from = words[8];
        int origin = from.indexOf('/');
        return new LogLine(
                time,
                duration,
                words[2],
                words[3].substring(0, slash),
                (int) Math.max(0, number(words[3].substring(slash + 1))),
                Math.max(0, number(words[4])),
                known(words[5]),
                known(words[6]),
                origin < 0 ? null : known(from.substring(origin + 1)),
                known(words[9]),
                1);
    }

    /** Parses {@code 192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] "GET /a HTTP/1.1" 200 1256 "referer" "agent"}. */
    private static @Nullable LogLine combined(String line) {
        int open = line.indexOf(" [");
        int close = open < 0 ? -1 : line.indexOf("] \"", open);
        int client = line.indexOf(' ');
        int end = close < 0 ? -1 : quoteEnd(line, close + 3);
        if (client <= 0 || end < 0) {
            return null;
        }
        long time = date(line.substring(open + 2, close));
        String request = line.substring(close + 3, end);
        String rest = line.substring(end + 1).strip();
        int space = rest.indexOf(' ');
        long status = space < 0 ? -1 : number(rest.substring(0, space));
        if (time < 0 || status < 0) {
            return null;
        }
        int next = rest.indexOf(' ', space + 1);
        long bytes = number(next < 0 ? rest.substring(space + 1) : rest.substring(space + 1, next));
        int method = request.indexOf(' ');
        int protocol = request.lastIndexOf(' ');
        String url = method < 0 ? null : request.substring(method + 1, protocol > method ? protocol : request.length());
        return new LogLine(
                time,
                -1,
                line.substring(0, client),
                null,
                (int) status,
                Math.max(0, bytes),
                method < 0 ? null : known(request.substring(0, method)),
                url == null ? null : known(url),
                null,
                null,
                1);
    }

    private static int quoteEnd(String line, int from) {
        int at = from;
        while (at < line.length() && line.charAt(at) != '"') {
            at += line.charAt(at) == '\\' ? 2 : 1;
        }
        return at < line.length() ? at : -1;
    }

    private static @Nullable LogLine json(String line) {
        JsonObject object;
        try {
            object = JsonObject.parse(line.getBytes(StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return null;
        }
        String time = object.text("time");
        if (time == null || !object.has("status")) {
            return null;
        }
        String type = object.text("type");
        int semicolon = type == null ? -1 : type.indexOf(';');
        return new LogLine(
                instant(time),
                object.number("duration_ms", -1),
                object.text("client"),
                object.text("result"),
                (int) object.number("status", 0),
                object.number("bytes", 0),
                object.text("method"),
                object.text("url"),
                object.text("origin"),
                type == null || semicolon < 0
                        ? type
                        : type.substring(0, semicolon).strip(),
                Math.max(1, Math.min(LogLine.SAMPLE_MAX, object.number("sample", 1))));
    }

    private static @Nullable String known(String word) {
        return word.equals("-") ? null : word;
    }

    /** Parses seconds such as {@code 1700000000.123} into milliseconds; returns -1 for other text. */
    private static long millis(String seconds) {
        int point = seconds.indexOf('.');
        long whole = number(point < 0 ? seconds : seconds.substring(0, point));
        if (whole < 0 || whole > Long.MAX_VALUE / 2000 || point < 0) {
            return whole < 0 || whole > Long.MAX_VALUE / 2000 ? -1 : whole * 1000;
        }
        String digits = (seconds.substring(point + 1) + "000").substring(0, 3);
        long fraction = number(digits);
        return fraction < 0 ? -1 : whole * 1000 + fraction;
    }

    /** Parses a number without a sign; returns -1 for other text. */
    static long number(String digits) {
        if (digits.isEmpty() || digits.length() > 18) {
            return -1;
        }
        long number = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = digits.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            number = number * 10 + digit;
        }
        return number;
    }

    private static long instant(String text) {
        try {
            return Instant.parse(text).toEpochMilli();
        } catch (DateTimeException | ArithmeticException e) {
            return -1;
        }
    }

    /** Parses {@code 14/Nov/2023:22:13:20 +0000} into epoch milliseconds; returns -1 for other text. */
    private static long date(String text) {
        if (text.length() < 26 || text.charAt(11) != ':') {
            return -1;
        }
        int month = MONTHS.indexOf(text.substring(3, 6));
        long offset = number(text.substring(22, 24)) * 60 + number(text.substring(24, 26));
        try {
            long day = LocalDate.of(
                            (int) number(text.substring(7, 11)), month / 3 + 1, (int) number(text.substring(0, 2)))
                    .toEpochDay();
            long seconds = day * 86_400
                    + number(text.substring(12, 14)) * 3600
                    + number(text.substring(15, 17)) * 60
                    + number(text.substring(18, 20));
            long zone = (text.charAt(21) == '-' ? -offset : offset) * 60;
            return month < 0 ? -1 : (seconds - zone) * 1000;
        } catch (DateTimeException e) {
            return -1;
        }
    }
}
