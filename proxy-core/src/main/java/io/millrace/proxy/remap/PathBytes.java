package io.millrace.proxy.remap;

import io.millrace.proxy.http.UriBytes;
import java.util.Arrays;

/** Compares paths in the normalized form of cache keys, without copying them (RFC 3986 s6.2.2). */
final class PathBytes {
    /** Result for a percent-encoding that is kept in cache keys. The caller compares its hex digits in upper case. */
    static final int ENCODED = -1;

    private PathBytes() {}

    /** Decodes the percent-encoding at {@code i}. Returns {@link #ENCODED} if cache keys keep the encoding. */
    static int unreservedAt(byte[] bytes, int i) {
        int high = Character.digit(bytes[i + 1], 16);
        int low = Character.digit(bytes[i + 2], 16);
        byte decoded = (byte) (high << 4 | low);
        // An encoded dot stays encoded in cache keys, because decoding could create a dot segment.
        return UriBytes.isUnreserved(decoded) && decoded != '.' ? decoded : ENCODED;
    }

    static byte upperCaseHex(byte b) {
        return b >= 'a' && b <= 'f' ? (byte) (b - 'a' + 'A') : b;
    }

    static byte[] normalize(byte[] path) {
        byte[] normal = new byte[path.length];
        return Arrays.copyOf(normal, UriBytes.normalizePath(path, 0, path.length, normal, 0));
    }

    /** Returns the position in a raw path that follows the first {@code length} bytes of its normalized form. */
    static int skip(byte[] bytes, int from, int to, int length) {
        if (!UriBytes.hasEncodingsToNormalize(bytes, from, to)) {
            return Math.min(to, from + length);
        }
        int i = from;
        for (int remaining = length; remaining > 0 && i < to; remaining--) {
            i += bytes[i] == '%' && unreservedAt(bytes, i) >= 0 ? 3 : 1;
        }
        return i;
    }

    /**
     * Returns true if resolving the dot segments of a range would lead above its start. Decodes encoded slashes,
     * dots and backslashes first, and treats backslashes as slashes, because some origins do so. Ignores empty
     * segments, because some origins merge them.
     *
     * @param atSegmentStart whether the range begins at the start of a segment; otherwise its bytes up to the first
     *     slash are ignored
     */
    static boolean leadsAboveStart(byte[] bytes, int from, int to, boolean atSegmentStart) {
        int depth = 0;
        int dots = 0;
        int others = 0;
        int i = from;
        boolean inFirstSegment = !atSegmentStart;
        while (i <= to) {
            int b = i < to ? bytes[i] : '/';
            int width = 1;
            if (b == '%' && i + 2 < to) {
                int high = Character.digit(bytes[i + 1], 16);
                int low = Character.digit(bytes[i + 2], 16);
                int decoded = high < 0 || low < 0 ? -1 : high << 4 | low;
                if (decoded == '.' || decoded == '/' || decoded == '\\') {
                    b = decoded;
                    width = 3;
                }
            }
            i += width;
            if (b == '/' || b == '\\') {
                if (inFirstSegment) {
                    inFirstSegment = false;
                } else if (others > 0 || dots > 2) {
                    depth++;
                } else if (dots == 2 && --depth < 0) {
                    return true;
                }
                dots = 0;
                others = 0;
            } else if (b == '.') {
                dots++;
            } else {
                others++;
            }
        }
        return false;
    }
}
