package io.millrace.proxy.observe.trace;

/**
 * The field {@code traceparent} (W3C Trace Context, level 1): parser and formatter. Stateless; allocates nothing to
 * parse.
 *
 * <pre>
 *   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *   version, trace id, span id of the parent, flags
 * </pre>
 */
public final class TraceParent {
    static final int LENGTH = 55;

    private static final int TRACE_AT = 3;
    private static final int TRACE_LOW_AT = 19;
    private static final int PARENT_AT = 36;
    private static final int FLAGS_AT = 53;
    private static final int LONG_DIGITS = 16;
    private static final int VERSION_MAX = 0xfe;
    private static final char[] DIGITS = "0123456789abcdef".toCharArray();

    private TraceParent() {}

    /**
     * Returns true if the bytes are a valid value. A later version than 00 may have more than four parts (s3.2.3
     * of the recommendation); the first four parts have the same meaning.
     */
    public static boolean isValid(byte[] bytes, int from, int to) {
        int length = to - from;
        if (length < LENGTH
                || !isHex(bytes, from, 2)
                || bytes[from + 2] != '-'
                || !isHex(bytes, from + TRACE_AT, 2 * LONG_DIGITS)
                || bytes[from + PARENT_AT - 1] != '-'
                || !isHex(bytes, from + PARENT_AT, LONG_DIGITS)
                || bytes[from + FLAGS_AT - 1] != '-'
                || !isHex(bytes, from + FLAGS_AT, 2)) {
            return false;
        }
        long version = number(bytes, from, 2);
        boolean isLengthValid = length == LENGTH || (version > 0 && bytes[from + LENGTH] == '-');
        return version <= VERSION_MAX
                && isLengthValid
                && (traceHigh(bytes, from) | traceLow(bytes, from)) != 0
                && parent(bytes, from) != 0;
    }

    /** Returns the high half of the trace id of a valid value. */
    static long traceHigh(byte[] bytes, int from) {
        return number(bytes, from + TRACE_AT, LONG_DIGITS);
    }

    /** Returns the low half of the trace id of a valid value. */
    static long traceLow(byte[] bytes, int from) {
        return number(bytes, from + TRACE_LOW_AT, LONG_DIGITS);
    }

    /** Returns the id of the parent span in a valid value. */
    static long parent(byte[] bytes, int from) {
        return number(bytes, from + PARENT_AT, LONG_DIGITS);
    }

    /** Returns true if the flag "sampled" of a valid value is set. */
    static boolean isSampled(byte[] bytes, int from) {
        return (number(bytes, from + FLAGS_AT, 2) & 1) != 0;
    }

    /** Returns a value of version 00. */
    public static String text(long traceHigh, long traceLow, long spanId, boolean isSampled) {
        StringBuilder text = new StringBuilder(LENGTH).append("00-");
        hex(traceHigh, text);
        hex(traceLow, text);
        text.append('-');
        hex(spanId, text);
        return text.append(isSampled ? "-01" : "-00").toString();
    }

    /** Returns the digits of an id. */
    static String hex(long id) {
        StringBuilder text = new StringBuilder(LONG_DIGITS);
        hex(id, text);
        return text.toString();
    }

    private static void hex(long id, StringBuilder to) {
        for (int shift = Long.SIZE - 4; shift >= 0; shift -= 4) {
            to.append(DIGITS[(int) (id >>> shift) & 0xf]);
        }
    }

    /** Writes the 16 digits of an id to an array. */
    static void hex(long id, byte[] to, int at) {
        for (int i = 0; i < LONG_DIGITS; i++) {
            to[at + i] = (byte) DIGITS[(int) (id >>> (Long.SIZE - 4 - 4 * i)) & 0xf];
        }
    }

    private static boolean isHex(byte[] bytes, int from, int count) {
        for (int i = from; i < from + count; i++) {
            byte b = bytes[i];
            if ((b < '0' || b > '9') && (b < 'a' || b > 'f')) {
                return false;
            }
        }
        return true;
    }

    private static long number(byte[] bytes, int from, int count) {
        long number = 0;
        for (int i = from; i < from + count; i++) {
            number = number << 4 | (bytes[i] <= '9' ? bytes[i] - '0' : bytes[i] - 'a' + 10);
        }
        return number;
    }
}
