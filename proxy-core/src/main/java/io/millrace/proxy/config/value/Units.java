package io.millrace.proxy.config.value;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses and formats sizes and durations: a number and a unit, such as {@code 512MiB} or {@code 1h30m}. Zero needs no
 * unit. Any other number without a unit is refused, since {@code 30} could mean seconds or bytes.
 */
public final class Units {
    /** Bytes per unit. A single letter means a power of 1024, as in Traffic Server's files. */
    private static final Map<String, Long> SIZES = new LinkedHashMap<>();

    /** Nanoseconds per unit. */
    private static final Map<String, Long> DURATIONS = new LinkedHashMap<>();

    private static final Pattern SIZE = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*([A-Za-z]*)");
    private static final Pattern DURATION_PART = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*([A-Za-z]*)\\s*");
    private static final BigInteger LONG_MAX = BigInteger.valueOf(Long.MAX_VALUE);

    static {
        String[] prefixes = {"K", "M", "G", "T"};
        SIZES.put("B", 1L);
        long binary = 1;
        long decimal = 1;
        for (String prefix : prefixes) {
            binary *= 1024;
            decimal *= 1000;
            SIZES.put(prefix + "iB", binary);
            SIZES.put(prefix.equals("K") ? "kB" : prefix + "B", decimal);
            SIZES.put(prefix, binary);
        }
        SIZES.put("KB", 1000L);
        DURATIONS.put("ns", 1L);
        DURATIONS.put("us", 1_000L);
        DURATIONS.put("ms", 1_000_000L);
        DURATIONS.put("s", 1_000_000_000L);
        DURATIONS.put("m", 60_000_000_000L);
        DURATIONS.put("min", 60_000_000_000L);
        DURATIONS.put("h", 3_600_000_000_000L);
        DURATIONS.put("d", 86_400_000_000_000L);
        DURATIONS.put("w", 604_800_000_000_000L);
    }

    private Units() {}

    public static long parseSize(String text) throws InvalidValueException {
        Matcher matcher = SIZE.matcher(text);
        if (!matcher.matches()) {
            throw new InvalidValueException("'" + text + "' is not a size such as 512MiB");
        }
        if (matcher.group(2).isEmpty()) {
            if (isZero(matcher.group(1))) {
                return 0;
            }
            throw new InvalidValueException(
                    "'" + text + "' has no unit; a size is written like 512MiB (B, KiB, MiB, GiB, TiB)", text + "B");
        }
        return scale(
                        text,
                        matcher.group(1),
                        factor(SIZES, text, matcher.group(1), matcher.group(2), "B, KiB, MiB, GiB, TiB"))
                .longValueExact();
    }

    public static Duration parseDuration(String text) throws InvalidValueException {
        Matcher matcher = DURATION_PART.matcher(text);
        if (isZero(text)) {
            return Duration.ZERO;
        }
        BigInteger nanos = BigInteger.ZERO;
        int end = 0;
        while (end < text.length()) {
            matcher.region(end, text.length());
            if (!matcher.lookingAt()) {
                throw new InvalidValueException("'" + text + "' is not a duration such as 30s or 1h30m");
            }
            if (matcher.group(2).isEmpty()) {
                throw new InvalidValueException(
                        "'" + text + "' has no unit; a duration is written like 30s (ms, s, m, h, d)", text + "s");
            }
            long factor = factor(DURATIONS, text, matcher.group(1), matcher.group(2), "ms, s, m, h, d");
            nanos = nanos.add(scale(text, matcher.group(1), factor));
            end = matcher.end();
        }
        if (end == 0 || nanos.compareTo(LONG_MAX) > 0) {
            throw new InvalidValueException("'" + text + "' is not a duration such as 30s or 1h30m");
        }
        return Duration.ofNanos(nanos.longValueExact());
    }

    /**
     * Formats a size with the largest binary unit that divides {@code bytes}: {@code 1536} is {@code 1536B},
     * {@code 2048} is {@code 2KiB}.
     */
    public static String formatSize(long bytes) {
        String[] units = {"TiB", "GiB", "MiB", "KiB"};
        for (String unit : units) {
            Long factor = SIZES.get(unit);
            if (factor != null && bytes != 0 && bytes % factor == 0) {
                return bytes / factor + unit;
            }
        }
        return bytes == 0 ? "0" : bytes + "B";
    }

    /** Formats a duration with the largest unit that divides it: 90 s is {@code 90s}, 3600 s is {@code 1h}. */
    public static String formatDuration(Duration duration) {
        long nanos = duration.toNanos();
        String[] units = {"d", "h", "m", "s", "ms", "us"};
        for (String unit : units) {
            Long factor = DURATIONS.get(unit);
            if (factor != null && nanos != 0 && nanos % factor == 0) {
                return nanos / factor + unit;
            }
        }
        return nanos == 0 ? "0" : nanos + "ns";
    }

    private static boolean isZero(String number) {
        return number.equals("0");
    }

    private static long factor(Map<String, Long> units, String text, String number, String unit, String known)
            throws InvalidValueException {
        Long factor = units.get(unit);
        if (factor == null) {
            String suggestion = intendedUnit(unit, units);
            throw new InvalidValueException(
                    "'" + text + "' has the unknown unit '" + unit + "' (" + known + ")",
                    suggestion == null ? null : number + suggestion);
        }
        return factor;
    }

    /**
     * Returns the unit that was probably meant; null if there is none. The meant unit differs from {@code unit} in case
     * or in one letter, or is the short form of a long unit.
     */
    private static @Nullable String intendedUnit(String unit, Map<String, Long> units) {
        String lower = unit.toLowerCase(Locale.ROOT);
        String best = null;
        for (String candidate : units.keySet()) {
            String lowerCandidate = candidate.toLowerCase(Locale.ROOT);
            if (lower.equals(lowerCandidate)) {
                return candidate;
            }
            if (lower.length() <= 3 && candidate.length() == 3 && Suggestions.distance(lower, lowerCandidate) == 1) {
                best = candidate;
            }
            boolean longForm = lower.startsWith(lowerCandidate) && !lower.startsWith("mo");
            if (longForm && (best == null || candidate.length() > best.length())) {
                best = candidate;
            }
        }
        return best;
    }

    private static BigInteger scale(String text, String number, long factor) throws InvalidValueException {
        BigDecimal scaled = new BigDecimal(number).multiply(BigDecimal.valueOf(factor));
        BigInteger wholeNumber = scaled.toBigInteger();
        if (new BigDecimal(wholeNumber).compareTo(scaled) != 0) {
            throw new InvalidValueException("'" + text + "' is not a whole number of its smallest unit");
        }
        if (wholeNumber.compareTo(LONG_MAX) > 0) {
            throw new InvalidValueException("'" + text + "' is too large");
        }
        return wholeNumber;
    }
}
