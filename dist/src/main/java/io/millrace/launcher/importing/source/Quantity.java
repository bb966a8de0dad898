package io.millrace.launcher.importing.source;

import java.math.BigDecimal;
import java.util.Locale;

/** Parses numbers of other proxies, and formats sizes and durations for Millrace. Stateless. */
public final class Quantity {
    private static final int DIGITS_MAX = 40;

    /** Thrown for a value that the other proxy would refuse. */
    public static final class BadValueException extends Exception {
        private static final long serialVersionUID = 1;

        private final String problem;

        /** @param problem why the value is invalid */
        public BadValueException(String problem) {
            super(problem, null, false, false);
            this.problem = problem;
        }

        @Override
        public String getMessage() {
            return problem;
        }
    }

    private Quantity() {}

    /**
     * Parses a value of Traffic Server's type INT: decimal, or hexadecimal after 0x. May end with K, M, G or T for
     * powers of 1024.
     */
    public static long integer(String text) throws BadValueException {
        String number = text.strip();
        long factor = 1;
        if (!number.isEmpty()) {
            int unit = "KMGT".indexOf(Character.toUpperCase(number.charAt(number.length() - 1)));
            factor = unit < 0 ? 1 : 1L << (10 * (unit + 1));
            number =
                    unit < 0 ? number : number.substring(0, number.length() - 1).strip();
        }
        try {
            boolean hexadecimal = number.toLowerCase(Locale.ROOT).startsWith("0x");
            long value = hexadecimal ? Long.parseLong(number.substring(2), 16) : Long.parseLong(number);
            return Math.multiplyExact(value, factor);
        } catch (NumberFormatException | ArithmeticException e) {
            throw new BadValueException("'" + text + "' is not an integer");
        }
    }

    /**
     * Parses a number of limited length.
     *
     * @throws NumberFormatException if the text is not a number, or has more than {@value #DIGITS_MAX} digits
     */
    public static BigDecimal number(String text) {
        BigDecimal value = new BigDecimal(text);
        if (value.precision() > DIGITS_MAX || Math.abs((long) value.scale()) > DIGITS_MAX) {
            throw new NumberFormatException("more than " + DIGITS_MAX + " digits");
        }
        return value;
    }

    /** Converts a value of Traffic Server's type FLOAT. */
    public static String decimal(String text) throws BadValueException {
        try {
            BigDecimal value = number(text.strip()).stripTrailingZeros();
            return value.signum() == 0 ? "0" : value.toPlainString();
        } catch (NumberFormatException e) {
            throw new BadValueException("'" + text + "' is not a number");
        }
    }

    /** Formats a size with the largest unit that divides it, such as {@code 1GiB}. */
    public static String size(long bytes) {
        if (bytes == 0) {
            return "0";
        }
        String[] units = {"TiB", "GiB", "MiB", "KiB"};
        for (int i = 0; i < units.length; i++) {
            long factor = 1L << (10 * (units.length - i));
            if (bytes % factor == 0) {
                return bytes / factor + units[i];
            }
        }
        return bytes + "B";
    }

    /** Formats seconds with the largest unit that divides them, such as {@code 2m}. */
    public static String seconds(long seconds) {
        return seconds == 0
                ? "0"
                : seconds % 86_400 == 0
                        ? seconds / 86_400 + "d"
                        : seconds % 3600 == 0
                                ? seconds / 3600 + "h"
                                : seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }

    /** Formats milliseconds as a duration. */
    public static String millis(long millis) {
        return millis % 1000 == 0 ? seconds(millis / 1000) : millis + "ms";
    }

    /** Converts a duration such as {@code 1h15m20s}. A number without unit is in seconds. */
    public static String time(String text) throws BadValueException {
        String time = text.strip().toLowerCase(Locale.ROOT);
        if (time.matches("\\d+")) {
            return seconds(integer(time));
        }
        if (!time.matches("(\\d+[wdhms])+")) {
            throw new BadValueException("'" + text + "' is not a time such as 1h15m20s");
        }
        return time;
    }
}
