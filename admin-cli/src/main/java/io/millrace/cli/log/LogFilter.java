package io.millrace.cli.log;

import io.millrace.cli.client.NamePattern;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A filter of log lines. A line matches if it fulfils every condition. Immutable. */
public final class LogFilter {
    /** Names of the conditions, for messages. */
    public static final String NAMES = "status, host, cache, result, client, url, method, origin, type, slower";

    private final List<Predicate<LogLine>> conditions;

    private LogFilter(List<Predicate<LogLine>> conditions) {
        this.conditions = List.copyOf(conditions);
    }

    /**
     * Parses conditions in the format {@code NAME=VALUE}.
     *
     * @param sinceMillis the earliest arrival, in epoch milliseconds; {@link Long#MIN_VALUE} for any
     * @throws IllegalArgumentException if a text is not a condition; the message describes the problem
     */
    public static LogFilter of(List<String> texts, long sinceMillis) {
        List<Predicate<LogLine>> conditions = new ArrayList<>();
        if (sinceMillis != Long.MIN_VALUE) {
            conditions.add(line -> line.timeMillis() >= sinceMillis);
        }
        for (String text : texts) {
            int equals = text.indexOf('=');
            if (equals <= 0 || equals == text.length() - 1) {
                throw new IllegalArgumentException("not of the form NAME=VALUE: " + text);
            }
            conditions.add(condition(text.substring(0, equals), text.substring(equals + 1)));
        }
        return new LogFilter(conditions);
    }

    /** Returns true if there is no condition, so that every line matches. */
    public boolean isEmpty() {
        return conditions.isEmpty();
    }

    /**
     * Returns true if a line matches.
     *
     * @param line null for a line in an unknown format, which matches only if there is no condition
     */
    public boolean matches(@Nullable LogLine line) {
        if (line == null) {
            return conditions.isEmpty();
        }
        for (Predicate<LogLine> condition : conditions) {
            if (!condition.test(line)) {
                return false;
            }
        }
        return true;
    }

    private static Predicate<LogLine> condition(String name, String value) {
        String lower = value.toLowerCase(Locale.ROOT);
        return switch (name) {
            case "status" -> status(lower);
            case "host" -> line -> isHost(line.host(), lower);
            case "cache" -> cache(lower);
            case "result" -> line -> value.equalsIgnoreCase(line.result());
            case "client" -> {
                AddressRange range = AddressRange.of(value);
                yield line -> line.client() != null && range.contains(line.client());
            }
            case "url" -> {
                NamePattern pattern = NamePattern.of(value);
                yield line -> line.url() != null && pattern.isFoundIn(line.url());
            }
            case "method" -> line -> value.equalsIgnoreCase(line.method());
            case "origin" -> line -> isHost(line.origin(), lower);
            case "type" ->
                line -> line.type() != null
                        && line.type().toLowerCase(Locale.ROOT).startsWith(lower);
            case "slower" -> {
                long millis = millis(value);
                yield line -> line.durationMillis() > millis;
            }
            default -> throw new IllegalArgumentException("no condition '" + name + "': there are " + NAMES);
        };
    }

    /** Returns a condition for {@code 404}, {@code 5xx} or {@code 400-499}. */
    private static Predicate<LogLine> status(String value) {
        long from;
        long to;
        int dash = value.indexOf('-');
        if (value.length() == 3 && value.endsWith("xx")) {
            from = LogParser.number(value.substring(0, 1)) * 100;
            to = from + 99;
        } else if (dash > 0) {
            from = LogParser.number(value.substring(0, dash));
            to = LogParser.number(value.substring(dash + 1));
        } else {
            from = LogParser.number(value);
            to = from;
        }
        if (from < 0 || to < from) {
            throw new IllegalArgumentException("not a status such as 404, 5xx or 400-499: " + value);
        }
        long least = from;
        long most = to;
        return line -> line.status() >= least && line.status() <= most;
    }

    private static Predicate<LogLine> cache(String value) {
        for (CacheGroup group : CacheGroup.values()) {
            if (group.word().equals(value)) {
                return line -> line.group() == group;
            }
        }
        throw new IllegalArgumentException("cache is hit, miss, error or other, not: " + value);
    }

    /**
     * Returns true if a host matches. The port is compared only if {@code wanted} has one. If {@code wanted} begins
     * with a dot, each subdomain matches.
     */
    private static boolean isHost(@Nullable String host, String wanted) {
        if (host == null) {
            return false;
        }
        String lower = host.toLowerCase(Locale.ROOT);
        int colon = lower.lastIndexOf(':');
        boolean isPortIgnored = colon > 0 && colon > lower.lastIndexOf(']') && wanted.indexOf(':') < 0;
        String name = isPortIgnored ? lower.substring(0, colon) : lower;
        return name.equals(wanted) || (wanted.startsWith(".") && name.endsWith(wanted));
    }

    private static long millis(String value) {
        boolean millis = value.endsWith("ms");
        boolean seconds = !millis && value.endsWith("s");
        long number = LogParser.number(value.substring(0, value.length() - (millis ? 2 : seconds ? 1 : 0)));
        if (number < 0) {
            throw new IllegalArgumentException("slower is a time such as 500ms or 2s, not: " + value);
        }
        return seconds ? number * 1000 : number;
    }
}
