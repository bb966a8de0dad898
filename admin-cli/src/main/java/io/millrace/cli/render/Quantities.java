package io.millrace.cli.render;

/** Formats numbers and their units in a short form. Stateless. */
public final class Quantities {
    private static final String[] BYTE_UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

    private Quantities() {}

    /**
     * Formats a number of bytes such as {@code 1.5 GiB}. The unit is the largest with a value of at least 1. The
     * decimal is omitted if it is zero.
     */
    public static String bytes(long bytes) {
        int unit = 0;
        long divisor = 1;
        while (unit < BYTE_UNITS.length - 1 && bytes / divisor >= 1024) {
            divisor *= 1024;
            unit++;
        }
        long rest = bytes % divisor;
        long tenths = bytes / divisor * 10 + (rest * 10 + divisor / 2) / divisor;
        return tenths / 10 + (tenths % 10 == 0 ? "" : "." + tenths % 10) + " " + BYTE_UNITS[unit];
    }

    /** Formats a count with commas between groups of three digits: {@code 18,322}. */
    public static String count(long count) {
        String digits = Long.toString(count);
        StringBuilder grouped = new StringBuilder(digits.length() + 6);
        for (int i = 0; i < digits.length(); i++) {
            int left = digits.length() - i;
            if (i > 0 && left % 3 == 0 && digits.charAt(i - 1) != '-') {
                grouped.append(',');
            }
            grouped.append(digits.charAt(i));
        }
        return grouped.toString();
    }

    /** Formats a count with its noun: {@code 1 hit}, {@code 2 hits}. */
    public static String count(long count, String one, String several) {
        return count(count) + " " + (count == 1 ? one : several);
    }

    /** Formats a duration in seconds with its two largest units: {@code 3h 12m}. */
    public static String duration(long seconds) {
        if (seconds < 0) {
            return "-" + duration(-seconds);
        }
        if (seconds < 60) {
            return seconds + "s";
        }
        if (seconds < 3600) {
            return seconds / 60 + "m" + rest(seconds % 60, "s");
        }
        if (seconds < 86_400) {
            return seconds / 3600 + "h" + rest(seconds % 3600 / 60, "m");
        }
        return seconds / 86_400 + "d" + rest(seconds % 86_400 / 3600, "h");
    }

    private static String rest(long count, String unit) {
        return count == 0 ? "" : " " + count + unit;
    }

    /** Formats a ratio as a percentage with one decimal, such as {@code 88.4%}; a dash if {@code whole} is zero. */
    public static String percent(long part, long whole) {
        if (whole <= 0) {
            return "-";
        }
        long thousandths = Math.round(part * 1000.0 / whole);
        return thousandths / 10 + "." + thousandths % 10 + "%";
    }

    /** Formats a value with one decimal: {@code 12.3}. */
    public static String tenths(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value) || Math.abs(value) > 1e15) {
            return value(value);
        }
        long tenths = Math.round(Math.abs(value) * 10);
        return (value < 0 && tenths != 0 ? "-" : "") + tenths / 10 + "." + tenths % 10;
    }

    /** Formats the value of a metric. A whole number has no decimals. */
    static String value(double value) {
        if (value == Math.rint(value) && Math.abs(value) < 1e15) {
            return Long.toString((long) value);
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "+Inf" : "-Inf";
        }
        return Double.toString(value);
    }
}
