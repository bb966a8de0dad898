package io.millrace.proxy.caching.field;

import java.util.Arrays;

/**
 * Compares entity tags in place (RFC 9110 s8.8.3.2). Opaque tags are compared byte for byte, including their quotes, so
 * a quoted tag differs from an unquoted one. Thread-safe: no state.
 */
public final class EntityTag {

    private EntityTag() {}

    public static boolean isWeak(byte[] b, int from, int to) {
        return to - from >= 2 && b[from] == 'W' && b[from + 1] == '/';
    }

    /** Returns true if both tags are strong and equal. */
    public static boolean matchesStrongly(byte[] a, int aFrom, int aTo, byte[] b, int bFrom, int bTo) {
        return !isWeak(a, aFrom, aTo) && !isWeak(b, bFrom, bTo) && isSame(a, aFrom, aTo, b, bFrom, bTo);
    }

    /** Returns true if the opaque tags are equal, weak or not. */
    public static boolean matchesWeakly(byte[] a, int aFrom, int aTo, byte[] b, int bFrom, int bTo) {
        int aStart = isWeak(a, aFrom, aTo) ? aFrom + 2 : aFrom;
        int bStart = isWeak(b, bFrom, bTo) ? bFrom + 2 : bFrom;
        return isSame(a, aStart, aTo, b, bStart, bTo);
    }

    private static boolean isSame(byte[] a, int aFrom, int aTo, byte[] b, int bFrom, int bTo) {
        return aTo > aFrom && Arrays.equals(a, aFrom, aTo, b, bFrom, bTo);
    }
}
