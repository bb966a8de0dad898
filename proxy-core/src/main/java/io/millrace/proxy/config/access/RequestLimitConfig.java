package io.millrace.proxy.config.access;

import io.millrace.proxy.config.guard.RequestConditions;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.http.FieldLexer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A limit of {@code request_limits} or {@code remap[].request_limits}. Immutable.
 *
 * @param name the name in logs, metrics and response fields
 * @param place file position, such as {@code millrace.yaml:12:5}; null for a limit set in code
 * @param when the condition; null if the limit counts every request
 * @param key the parts of a request whose values select its counter; requests with equal values share one counter
 * @param rate the rate as in the file, such as {@code 100/s}
 * @param intervalNanos time after which a client may send one more request
 * @param burst requests that may arrive at once
 * @param dryRun whether requests beyond the limit are only counted
 */
public record RequestLimitConfig(
        String name,
        @Nullable String place,
        @Nullable Expression<RequestFacts> when,
        List<Part> key,
        String rate,
        long intervalNanos,
        int burst,
        boolean dryRun) {
    /** The word in {@code key} that stands for the client's address. */
    static final String CLIENT = "client";

    /** Maximum number of limits that apply to one request: those for all requests and those of its remap rule. */
    public static final int LIMITS_MAX = 20;

    /** Limit of the length of a name, in characters. */
    static final int NAME_MAX = 64;

    private static final long SECOND = 1_000_000_000L;

    /** Limit of the time in which a used burst is refilled, in nanoseconds. */
    private static final long WINDOW_MAX = 366 * 86_400 * SECOND;

    /** The kinds of values that select a counter. */
    public enum Source {
        /** No value: one counter for all requests. */
        ALL,
        /** The address of the client. */
        CLIENT,
        /** The requested host. */
        HOST,
        /** The first line of a request field. */
        REQUEST_HEADER,
        /** The first cookie with a name. */
        COOKIE,
        /** The first query parameter with a name. */
        PARAM
    }

    /**
     * A part of a key.
     *
     * @param source kind of the value
     * @param name name of the field, cookie or parameter; empty for the other kinds
     */
    public record Part(Source source, String name) {
        /** Returns the part as in the file. */
        @Override
        public String toString() {
            String word = source.name().toLowerCase(Locale.ROOT);
            return name.isEmpty() ? word : word + "[" + Expression.literal(name) + "]";
        }
    }

    /** Receives the faults of a limit. */
    public interface Faults {
        /**
         * Reports a fault.
         *
         * @param key name of the key within the limit; empty for the limit as a whole
         */
        void report(String key, String message);
    }

    /**
     * Reads a limit.
     *
     * @return null after a fault
     */
    public static @Nullable RequestLimitConfig read(ConfigValues element, Faults to) {
        boolean[] faulty = {false};
        Faults faults = (key, message) -> {
            faulty[0] = true;
            to.report(key, message);
        };
        String name = element.find(RequestLimitKeys.NAME);
        if (name == null) {
            faults.report("", "has no name, which logs, metrics and response fields show");
        } else if (!isName(name)) {
            faults.report(
                    "name", "'" + name + "' is not a name of 1 to " + NAME_MAX + " letters, digits, '-', '_' and '.'");
        }
        Expression<RequestFacts> when = condition(element.find(RequestLimitKeys.WHEN), faults);
        List<Part> key = key(element.get(RequestLimitKeys.KEY), faults);
        String rate = element.find(RequestLimitKeys.RATE);
        long[] parsed = rate == null ? null : rate(rate);
        if (rate == null) {
            faults.report("", "has no rate, such as rate: 100/s");
        } else if (parsed == null) {
            faults.report("rate", "'" + rate + "' is not a number of 1 to 1000000 and /s, /m, /h or /d, such as 100/s");
        }
        Integer burst = element.find(RequestLimitKeys.BURST);
        if (parsed != null && burst != null && parsed[1] / parsed[0] > WINDOW_MAX / burst) {
            faults.report("burst", burst + " is refilled only after more than 366 days at the rate " + rate);
        }
        if (faulty[0] || name == null || rate == null || parsed == null) {
            return null;
        }
        return new RequestLimitConfig(
                name,
                element.filePosition(),
                when,
                key,
                rate,
                Math.max(1, parsed[1] / parsed[0]),
                burst == null ? (int) parsed[0] : burst,
                element.get(RequestLimitKeys.DRY_RUN));
    }

    private static boolean isName(String name) {
        return !name.isEmpty()
                && name.length() <= NAME_MAX
                && name.chars().allMatch(c -> (Character.isLetterOrDigit(c) && c < 0x7f) || "-_.".indexOf(c) >= 0);
    }

    private static @Nullable Expression<RequestFacts> condition(@Nullable String text, Faults faults) {
        try {
            return text == null ? null : RequestConditions.parse(text);
        } catch (InvalidValueException e) {
            faults.report("when", e.problem());
            return null;
        }
    }

    private static List<Part> key(List<String> texts, Faults faults) {
        List<Part> parts = new ArrayList<>();
        for (String text : texts) {
            Part part = part(text.trim());
            if (part == null) {
                faults.report(
                        "key",
                        "'" + text + "' is none of client, host, all, request_header[\"NAME\"], cookie[\"NAME\"] and"
                                + " param[\"NAME\"]");
            } else if (part.source() == Source.ALL && texts.size() > 1) {
                faults.report("key", "all has no effect beside other parts; remove it");
            } else if (parts.contains(part)) {
                faults.report("key", "has " + part + " twice");
            } else {
                parts.add(part);
            }
        }
        return List.copyOf(parts);
    }

    private static @Nullable Part part(String text) {
        for (Source source : List.of(Source.ALL, Source.CLIENT, Source.HOST)) {
            if (text.equals(source.name().toLowerCase(Locale.ROOT))) {
                return new Part(source, "");
            }
        }
        for (Source source : List.of(Source.REQUEST_HEADER, Source.COOKIE, Source.PARAM)) {
            String word = source.name().toLowerCase(Locale.ROOT);
            if (text.startsWith(word + "[") && text.endsWith("]")) {
                String name = unquoted(text.substring(word.length() + 1, text.length() - 1));
                byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
                boolean valid = source == Source.PARAM
                        ? !name.isEmpty() && name.chars().noneMatch(c -> c <= ' ' || "&=?#\"".indexOf(c) >= 0)
                        : FieldLexer.isToken(bytes, 0, bytes.length);
                return valid ? new Part(source, name) : null;
            }
        }
        return null;
    }

    private static String unquoted(String text) {
        boolean quoted = text.length() >= 2
                && (text.charAt(0) == '"' || text.charAt(0) == '\'')
                && text.charAt(text.length() - 1) == text.charAt(0);
        return quoted ? text.substring(1, text.length() - 1) : "";
    }

    /** Returns the number and the time in nanoseconds; null if the text is no rate. */
    private static long @Nullable [] rate(String text) {
        int slash = text.indexOf('/');
        if (slash < 1 || slash > 7 || !text.substring(0, slash).chars().allMatch(c -> c >= '0' && c <= '9')) {
            return null;
        }
        long number = Long.parseLong(text.substring(0, slash));
        long nanos =
                switch (text.substring(slash + 1)) {
                    case "s" -> SECOND;
                    case "m" -> 60 * SECOND;
                    case "h" -> 3600 * SECOND;
                    case "d" -> 86_400 * SECOND;
                    default -> 0;
                };
        return number < 1 || number > 1_000_000 || nanos == 0 ? null : new long[] {number, nanos};
    }

    /** Returns the time in which the used burst of a client without requests is refilled, in nanoseconds. */
    public long windowNanos() {
        return intervalNanos * burst;
    }

    /** Name and place: {@code api at millrace.yaml:12:5}. */
    @Override
    public String toString() {
        return place == null ? name : name + " at " + place;
    }
}
