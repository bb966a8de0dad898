package io.millrace.proxy.http;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Scanner functions for field bytes: tokens, optional white space, numbers, and comparisons that ignore ASCII case (RFC
 * 9110 s5.6). Ranges include {@code from} and exclude {@code to}. Thread-safe: no state.
 */
public final class FieldLexer {

    /** Result of {@link #deltaSeconds} and {@link #number} for text that is not a non-negative decimal integer. */
    public static final long NOT_A_NUMBER = -1;

    /** Limit of {@code delta-seconds}: 2^31. Larger values are replaced by this limit (RFC 9111 s1.2.2). */
    public static final long DELTA_SECONDS_MAX = 1L << 31;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long EVERY_BYTE = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    private static final boolean[] TOKEN = new boolean[256];

    static {
        for (int c = '0'; c <= '9'; c++) {
            TOKEN[c] = true;
        }
        for (int c = 'a'; c <= 'z'; c++) {
            TOKEN[c] = true;
            TOKEN[c - 32] = true;
        }
        for (char c : "!#$%&'*+-.^_`|~".toCharArray()) {
            TOKEN[c] = true;
        }
    }

    private FieldLexer() {}

    /** Returns true if the byte is allowed in a token (RFC 9110 s5.6.2). */
    public static boolean isTokenByte(byte b) {
        return TOKEN[b & 0xff];
    }

    /** Returns true if the range is a token: not empty, with token bytes only. */
    public static boolean isToken(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (!TOKEN[bytes[i] & 0xff]) {
                return false;
            }
        }
        return to > from;
    }

    /** Returns the position of the first byte in the range that is not a token byte; {@code to} if there is none. */
    public static int skipToken(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && TOKEN[bytes[i] & 0xff]) {
            i++;
        }
        return i;
    }

    /**
     * Returns the position of the first byte in the range that is not text; {@code to} if there is none. Text is
     * visible ASCII, space and tab. Checks eight bytes at a time, because the fields of a browser's request have about
     * a thousand bytes.
     */
    public static int skipText(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to) {
            if (i + Long.BYTES <= to && isTextWithoutTab((long) LONGS.get(bytes, i))) {
                i += Long.BYTES;
                continue;
            }
            for (int end = Math.min(to, i + Long.BYTES); i < end; i++) {
                if (!isText(bytes[i])) {
                    return i;
                }
            }
        }
        return i;
    }

    private static boolean isText(byte b) {
        return (b >= ' ' && b != 0x7f) || b == '\t';
    }

    /** Returns true if all eight bytes are from 0x20 to 0x7e. */
    private static boolean isTextWithoutTab(long word) {
        long belowSpace = word - ' ' * EVERY_BYTE;
        long deleted = word ^ 0x7f * EVERY_BYTE;
        return ((belowSpace | word | (deleted - EVERY_BYTE)) & HIGH_BITS) == 0;
    }

    /** Returns the position after leading spaces and tabs; {@code to} if the range has only these. */
    public static int skipSpace(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && isSpace(bytes[i])) {
            i++;
        }
        return i;
    }

    /** Returns the end of the range without trailing spaces and tabs; at least {@code from}. */
    public static int trimEnd(byte[] bytes, int from, int to) {
        int end = to;
        while (end > from && isSpace(bytes[end - 1])) {
            end--;
        }
        return end;
    }

    /** Returns true if the byte is a space or a tab. */
    public static boolean isSpace(byte b) {
        return b == ' ' || b == '\t';
    }

    /**
     * Returns the position after the quoted string (RFC 9110 s5.6.4) that begins at {@code from}; -1 if it is not
     * closed before {@code to}.
     */
    public static int skipQuoted(byte[] bytes, int from, int to) {
        return skipQuoted(bytes, from, to, true);
    }

    /** Like {@link #skipQuoted(byte[], int, int)}. With {@code hasEscapes}, a backslash escapes the next byte. */
    static int skipQuoted(byte[] bytes, int from, int to, boolean hasEscapes) {
        int i = from + 1;
        while (i < to) {
            byte b = bytes[i];
            if (b == '"') {
                return i + 1;
            }
            i += hasEscapes && b == '\\' ? 2 : 1;
        }
        return -1;
    }

    /**
     * Parses the range as {@code delta-seconds} (RFC 9111 s1.2.2): decimal digits only. Returns
     * {@link #DELTA_SECONDS_MAX} for a larger number and {@link #NOT_A_NUMBER} for other text.
     */
    public static long deltaSeconds(byte[] bytes, int from, int to) {
        if (from >= to) {
            return NOT_A_NUMBER;
        }
        long value = 0;
        for (int i = from; i < to; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9) {
                return NOT_A_NUMBER;
            }
            value = Math.min(DELTA_SECONDS_MAX, value * 10 + digit);
        }
        return value;
    }

    /**
     * Parses the range as a non-negative decimal integer. Returns {@link Long#MAX_VALUE} for a larger number and
     * {@link #NOT_A_NUMBER} for other text.
     */
    public static long number(byte[] bytes, int from, int to) {
        if (from >= to) {
            return NOT_A_NUMBER;
        }
        long value = 0;
        for (int i = from; i < to; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9) {
                return NOT_A_NUMBER;
            }
            value = value > (Long.MAX_VALUE - digit) / 10 ? Long.MAX_VALUE : value * 10 + digit;
        }
        return value;
    }

    /** Returns true if the range equals the ASCII text. Ignores ASCII case. */
    public static boolean equalsIgnoreCase(byte[] bytes, int from, int to, CharSequence text) {
        int length = to - from;
        if (length != text.length()) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (lower(bytes[from + i] & 0xff) != lower(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    /** Returns true if the range equals the text byte for byte. */
    public static boolean equals(byte[] bytes, int from, int to, CharSequence text) {
        int length = to - from;
        if (length != text.length()) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if ((bytes[from + i] & 0xff) != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Converts an ASCII capital letter to lower case. Other characters are unchanged. */
    public static int lower(int c) {
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    }

    /** Returns the value of a hexadecimal digit; -1 for other bytes. */
    static int hexDigit(byte b) {
        int c = lower(b & 0xff);
        if (c >= '0' && c <= '9') {
            return c - '0';
        }
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    }
}
