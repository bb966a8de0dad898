package io.millrace.proxy.config.value;

/**
 * A range of the time of day: {@code 08:00-14:00}, or across midnight {@code 22:00-06:00}. Immutable.
 *
 * @param fromMinute first minute of the day in the range, 0 to 1439
 * @param toMinute minute of the day at which the range ends, 1 to 1440, excluded
 */
public record DayTime(int fromMinute, int toMinute) {
    private static final int DAY = 24 * 60;

    public static DayTime parse(String text) throws InvalidValueException {
        int dash = text.indexOf('-');
        int from = dash < 0 ? -1 : minute(text.substring(0, dash).trim());
        int to = dash < 0 ? -1 : minute(text.substring(dash + 1).trim());
        if (from < 0 || from == DAY || to < 0) {
            throw new InvalidValueException("'" + text + "' is not a part of a day such as 08:00-14:00");
        }
        if (from == to) {
            throw new InvalidValueException(
                    "'" + text + "' has the same begin and end; omit the key for the whole day");
        }
        return new DayTime(from, to == 0 ? DAY : to);
    }

    private static int minute(String text) {
        boolean wellFormed = text.length() == 5 && text.charAt(2) == ':';
        for (int i = 0; i < text.length(); i++) {
            wellFormed &= i == 2 || (text.charAt(i) >= '0' && text.charAt(i) <= '9');
        }
        if (!wellFormed) {
            return -1;
        }
        int hour = Integer.parseInt(text.substring(0, 2));
        int minute = Integer.parseInt(text.substring(3));
        return minute > 59 || hour * 60 + minute > DAY ? -1 : hour * 60 + minute;
    }

    /** Returns true if the range contains the minute of the day, 0 to 1439. */
    public boolean contains(int minuteOfDay) {
        return fromMinute < toMinute
                ? minuteOfDay >= fromMinute && minuteOfDay < toMinute
                : minuteOfDay >= fromMinute || minuteOfDay < toMinute;
    }

    @Override
    public String toString() {
        return text(fromMinute) + "-" + text(toMinute);
    }

    private static String text(int minute) {
        String hours = Integer.toString(100 + minute / 60);
        String minutes = Integer.toString(100 + minute % 60);
        return hours.substring(1) + ":" + minutes.substring(1);
    }
}
