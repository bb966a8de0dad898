package io.millrace.proxy.http;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Scanners over field bytes: tokens, optional white space, numbers, comparisons that ignore ASCII case (RFC 9110 s5.6).
 * Ranges are half open, {@code from} inclusive and {@code to} exclusive. Thread-safe: no state.
 */
public final class FieldLexer {

    /** What {@link #deltaSeconds} returns for text that is not a non-negative decimal integer. */
    public static final long NOT_A_NUMBER = -1;

    /** The value that a larger {@code delta-seconds} counts as: 2^31 (RFC 9111 s1.2.2). */
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

    /** Whether the byte may stand in a token (RFC 9110 s5.6.2). */
    public static boolean isTokenByte(byte b) {
        return TOKEN[b & 0xff];
    }

    /** Whether the range is a token: not empty and token bytes only. */
    public static boolean isToken(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (!TOKEN[bytes[i] & 0xff]) {
                return false;
            }
        }
        return to > from;
    }

    /** Position of the first byte at or after {@code from} that is not a token byte, at most {@code to}. */
    public static int skipToken(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && TOKEN[bytes[i] & 0xff]) {
            i++;
        }
        return i;
    }

    /**
     * Position of the first byte at or after {@code from} that is neither visible ASCII nor space nor tab, at most {@code to}. Looks at eight
     * bytes at a time, since the values of a browser's fields have a thousand.
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

    /** Whether all eight bytes are from 0x20 to 0x7e. */
    private static boolean isTextWithoutTab(long word) {
        long belowSpace = word - ' ' * EVERY_BYTE;
        long deleted = word ^ 0x7f * EVERY_BYTE;
        return ((belowSpace | word | (deleted - EVERY_BYTE)) & HIGH_BITS) == 0;
    }

    /** Position of the first byte at or after {@code from} that is neither space nor tab, at most {@code to}. */
    public static int skipSpace(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && isSpace(bytes[i])) {
            i++;
        }
        return i;
    }

    /** End of the range with trailing spaces and tabs left out, at least {@code from}. */
    public static int trimEnd(byte[] bytes, int from, int to) {
        int end = to;
        while (end > from && isSpace(bytes[end - 1])) {
            end--;
        }
        return end;
    }

    /** Whether the byte is a space or a tab. */
    public static boolean isSpace(byte b) {
        return b == ' ' || b == '\t';
    }

    /**
     * Position just after the quoted string (RFC 9110 s5.6.4) that opens at {@code from}, or -1 when it is not closed
     * before {@code to}.
     */
    public static int skipQuoted(byte[] bytes, int from, int to) {
        return skipQuoted(bytes, from, to, true);
    }

    /** As {@link #skipQuoted(byte[], int, int)}; {@code hasEscapes} says whether a backslash escapes the next byte. */
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
     * The range as {@code delta-seconds} (RFC 9111 s1.2.2): decimal digits only; a larger number counts as
     * {@link #DELTA_SECONDS_MAX}; anything else is {@link #NOT_A_NUMBER}.
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
     * The range as a non-negative decimal integer, {@link Long#MAX_VALUE} when it is larger than that, or
     * {@link #NOT_A_NUMBER}.
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

    /** Whether the range equals the ASCII text without regard to ASCII case. */
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

    /** Whether the range equals the text byte for byte. */
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

    /** The character with an ASCII capital made small; others as they are. */
    public static int lower(int c) {
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    }

    /** The value of a hexadecimal digit, or -1. */
    static int hexDigit(byte b) {
        int c = lower(b & 0xff);
        if (c >= '0' && c <= '9') {
            return c - '0';
        }
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    }
}
