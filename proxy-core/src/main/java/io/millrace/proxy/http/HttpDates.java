package io.millrace.proxy.http;

import java.nio.charset.StandardCharsets;

/**
 * Parses and formats HTTP dates (RFC 9110 s5.6.7). Parses all three formats; writes the fixed-length format. Names
 * of days and months are read without regard to case. The day of the week is not compared with the date. Thread-safe:
 * no state.
 *
 * <pre>
 * Sun, 06 Nov 1994 08:49:37 GMT    IMF-fixdate, the written format
 * Sunday, 06-Nov-94 08:49:37 GMT   RFC 850
 * Sun Nov  6 08:49:37 1994         asctime
 * </pre>
 */
public final class HttpDates {

    /** Result of {@link #parse} for text that is not a date. */
    public static final long INVALID = Long.MIN_VALUE;

    /** Length of the written format in bytes. */
    public static final int LENGTH = 29;

    private static final String[] DAYS = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    private static final String[] LONG_DAYS = {
        "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"
    };
    private static final String[] MONTHS = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
    };
    private static final int SECONDS_PER_DAY = 86_400;
    private static final int DAYS_PER_400_YEARS = 146_097;
    /** Days from 1 March of the year 0 to 1 January 1970. */
    private static final int EPOCH_OFFSET_DAYS = 719_468;

    private HttpDates() {}

    /**
     * Returns the date in epoch seconds, or {@link #INVALID}. A leap second counts as the second before it.
     *
     * @param nowSeconds current time in epoch seconds. A two-digit year of RFC 850 that would be more than 50 years in
     *     the future means the most recent past year with the same last two digits
     */
    public static long parse(byte[] bytes, int from, int to, long nowSeconds) {
        int length = to - from;
        if (length == LENGTH && bytes[from + 3] == ',') {
            return parseFixed(bytes, from);
        }
        if (length == 24 && bytes[from + 3] == ' ') {
            return parseAsctime(bytes, from);
        }
        return parseRfc850(bytes, from, to, nowSeconds);
    }

    /** Returns the date in the line's value; see {@link #parse(byte[], int, int, long)}. */
    public static long parse(FieldSection fields, int line, long nowSeconds) {
        return parse(fields.bytes(), fields.valueStart(line), fields.valueEnd(line), nowSeconds);
    }

    /** Returns the date in the first field with this name; {@link #INVALID} if absent or not a date. */
    public static long parse(FieldSection fields, FieldName name, long nowSeconds) {
        int line = fields.find(name);
        return line < 0 ? INVALID : parse(fields, line, nowSeconds);
    }

    /** Writes the 29 bytes of an IMF-fixdate. The year must be from 0 to 9999. */
    public static void format(long epochSeconds, byte[] to, int at) {
        long days = Math.floorDiv(epochSeconds, (long) SECONDS_PER_DAY);
        int second = (int) Math.floorMod(epochSeconds, (long) SECONDS_PER_DAY);
        // Computes the civil date from a day count, in a calendar whose years begin on 1 March. An era has 400 years.
        long shifted = days + EPOCH_OFFSET_DAYS;
        long era = Math.floorDiv(shifted, (long) DAYS_PER_400_YEARS);
        int dayOfEra = (int) Math.floorMod(shifted, (long) DAYS_PER_400_YEARS);
        int yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
        int dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        int shiftedMonth = (5 * dayOfYear + 2) / 153;
        int day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1;
        int month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
        int year = (int) (yearOfEra + era * 400) + (month <= 2 ? 1 : 0);
        putText(DAYS[(int) Math.floorMod(days, 7L)], to, at);
        to[at + 3] = ',';
        to[at + 4] = ' ';
        putTwo(day, to, at + 5);
        to[at + 7] = ' ';
        putText(MONTHS[month - 1], to, at + 8);
        to[at + 11] = ' ';
        putTwo(year / 100, to, at + 12);
        putTwo(year % 100, to, at + 14);
        to[at + 16] = ' ';
        putTwo(second / 3600, to, at + 17);
        to[at + 19] = ':';
        putTwo(second / 60 % 60, to, at + 20);
        to[at + 22] = ':';
        putTwo(second % 60, to, at + 23);
        to[at + 25] = ' ';
        putText("GMT", to, at + 26);
    }

    /** Returns the IMF-fixdate as text. */
    public static String format(long epochSeconds) {
        byte[] text = new byte[LENGTH];
        format(epochSeconds, text, 0);
        return new String(text, StandardCharsets.ISO_8859_1);
    }

    private static long parseFixed(byte[] b, int at) {
        boolean shape = indexOf(DAYS, b, at, at + 3) >= 0
                && b[at + 4] == ' '
                && b[at + 7] == ' '
                && b[at + 11] == ' '
                && b[at + 16] == ' '
                && b[at + 25] == ' '
                && FieldLexer.equalsIgnoreCase(b, at + 26, at + 29, "GMT");
        if (!shape) {
            return INVALID;
        }
        int century = two(b, at + 12);
        int yearOfCentury = two(b, at + 14);
        int year = century < 0 || yearOfCentury < 0 ? -1 : century * 100 + yearOfCentury;
        return seconds(year, indexOf(MONTHS, b, at + 8, at + 11), two(b, at + 5), time(b, at + 17));
    }

    private static long parseAsctime(byte[] b, int at) {
        boolean shape = indexOf(DAYS, b, at, at + 3) >= 0 && b[at + 7] == ' ' && b[at + 10] == ' ' && b[at + 19] == ' ';
        if (!shape) {
            return INVALID;
        }
        int day = b[at + 8] == ' ' ? digit(b[at + 9]) : two(b, at + 8);
        int century = two(b, at + 20);
        int yearOfCentury = two(b, at + 22);
        int year = century < 0 || yearOfCentury < 0 ? -1 : century * 100 + yearOfCentury;
        return seconds(year, indexOf(MONTHS, b, at + 4, at + 7), day, time(b, at + 11));
    }

    private static long parseRfc850(byte[] b, int from, int to, long nowSeconds) {
        int comma = from;
        while (comma < to && b[comma] != ',') {
            comma++;
        }
        int at = comma + 2;
        boolean shape = to - comma == 24
                && indexOf(LONG_DAYS, b, from, comma) >= 0
                && b[comma + 1] == ' '
                && b[at + 2] == '-'
                && b[at + 6] == '-'
                && b[at + 9] == ' '
                && b[at + 18] == ' '
                && FieldLexer.equalsIgnoreCase(b, at + 19, at + 22, "GMT");
        if (!shape) {
            return INVALID;
        }
        int twoDigits = two(b, at + 7);
        if (twoDigits < 0) {
            return INVALID;
        }
        int month = indexOf(MONTHS, b, at + 3, at + 6);
        int day = two(b, at);
        int time = time(b, at + 10);
        int latest = yearOf(nowSeconds) + 50;
        int year = latest - Math.floorMod(latest - twoDigits, 100);
        // Compares the same date fifty years earlier with now. If that year has no 29 February, the 28th is compared.
        int earlier = year == latest && month == 1 && day == 29 ? 28 : day;
        boolean isTooFar = year == latest && seconds(year - 50, month, earlier, time) > nowSeconds;
        return seconds(isTooFar ? year - 100 : year, month, day, time);
    }

    /** Returns the seconds of the day for {@code hh:mm:ss}; -1 if malformed. */
    private static int time(byte[] b, int at) {
        int hour = two(b, at);
        int minute = two(b, at + 3);
        int second = two(b, at + 6);
        boolean valid = b[at + 2] == ':'
                && b[at + 5] == ':'
                && hour >= 0
                && hour < 24
                && minute >= 0
                && minute < 60
                && second >= 0
                && second <= 60;
        return valid ? hour * 3600 + minute * 60 + Math.min(second, 59) : -1;
    }

    private static long seconds(int year, int monthIndex, int day, int timeOfDay) {
        if (year < 0 || monthIndex < 0 || day < 1 || timeOfDay < 0 || day > lengthOfMonth(year, monthIndex)) {
            return INVALID;
        }
        return epochDay(year, monthIndex + 1, day) * SECONDS_PER_DAY + timeOfDay;
    }

    private static long epochDay(int year, int month, int day) {
        int shiftedYear = month <= 2 ? year - 1 : year;
        int era = Math.floorDiv(shiftedYear, 400);
        int yearOfEra = shiftedYear - era * 400;
        int dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
        int dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
        return (long) era * DAYS_PER_400_YEARS + dayOfEra - EPOCH_OFFSET_DAYS;
    }

    private static int lengthOfMonth(int year, int monthIndex) {
        if (monthIndex == 1) {
            boolean leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            return leap ? 29 : 28;
        }
        return monthIndex == 3 || monthIndex == 5 || monthIndex == 8 || monthIndex == 10 ? 30 : 31;
    }

    private static int yearOf(long epochSeconds) {
        // 31,556,952 s is the mean Gregorian year. The estimate is correct or off by one.
        int year = 1970 + (int) Math.floorDiv(epochSeconds, 31_556_952L);
        long day = Math.floorDiv(epochSeconds, (long) SECONDS_PER_DAY);
        while (epochDay(year + 1, 1, 1) <= day) {
            year++;
        }
        while (epochDay(year, 1, 1) > day) {
            year--;
        }
        return year;
    }

    private static int indexOf(String[] names, byte[] b, int from, int to) {
        for (int i = 0; i < names.length; i++) {
            if (FieldLexer.equalsIgnoreCase(b, from, to, names[i])) {
                return i;
            }
        }
        return -1;
    }

    private static int digit(byte b) {
        return b >= '0' && b <= '9' ? b - '0' : -1;
    }

    private static int two(byte[] b, int at) {
        int tens = digit(b[at]);
        int ones = digit(b[at + 1]);
        return tens < 0 || ones < 0 ? -1 : tens * 10 + ones;
    }

    private static void putTwo(int value, byte[] to, int at) {
        to[at] = (byte) ('0' + value / 10);
        to[at + 1] = (byte) ('0' + value % 10);
    }

    private static void putText(String text, byte[] to, int at) {
        for (int i = 0; i < text.length(); i++) {
            to[at + i] = (byte) text.charAt(i);
        }
    }
}
