package io.millrace.launcher.nginx.syntax;

import io.millrace.launcher.importing.source.Quantity;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Converts sizes and times from nginx's notation to Millrace's. Stateless. */
public final class Values {
    private static final Pattern PART = Pattern.compile("(\\d{1,15}(?:\\.\\d{1,3})?)(ms|[smhdwMy]?)");
    private static final Map<String, Long> MILLIS = Map.of(
            "ms", 1L,
            "s", 1000L,
            "", 1000L,
            "m", 60_000L,
            "h", 3_600_000L,
            "d", 86_400_000L,
            "w", 7 * 86_400_000L,
            "M", 30 * 86_400_000L,
            "y", 365 * 86_400_000L);

    private Values() {}

    /** Parses a time such as {@code 1h30m}, and returns milliseconds. Returns null if the text is not a time. */
    @Nullable
    public static Long millis(String text) {
        String all = text.replace(" ", "");
        Matcher part = PART.matcher(all);
        long sum = 0;
        int end = 0;
        while (part.find() && part.start() == end) {
            long factor = MILLIS.getOrDefault(part.group(2), 1000L);
            sum += new BigDecimal(part.group(1))
                    .multiply(BigDecimal.valueOf(factor))
                    .longValue();
            end = part.end();
        }
        return end == all.length() && end > 0 ? Long.valueOf(sum) : null;
    }

    /** Converts a time to Millrace's notation. Returns null if the text is not a time. */
    @Nullable
    public static String time(String text) {
        Long millis = millis(text);
        return millis == null ? null : Quantity.millis(millis);
    }

    /** Parses a size such as {@code 10m}, and returns bytes. Returns null if the text is not a size. */
    @Nullable
    public static Long bytes(String text) {
        String size = text.toLowerCase(Locale.ROOT);
        if (!size.matches("\\d{1,12}[kmg]?")) {
            return null;
        }
        int unit = "kmg".indexOf(size.charAt(size.length() - 1));
        String digits = unit < 0 ? size : size.substring(0, size.length() - 1);
        return Long.parseLong(digits) << (10 * (unit + 1));
    }

    /** Converts a size to Millrace's notation. Returns null if the text is not a size. */
    @Nullable
    public static String size(String text) {
        Long bytes = bytes(text);
        return bytes == null ? null : Quantity.size(bytes);
    }
}
