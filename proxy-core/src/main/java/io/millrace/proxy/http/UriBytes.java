package io.millrace.proxy.http;

import java.nio.charset.StandardCharsets;

/** Functions on the bytes of URIs: byte classes and normalization (RFC 3986 s2.3, s6.2.2). Thread-safe: no state. */
public final class UriBytes {

    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};

    private UriBytes() {}

    /** Returns true if the byte is a letter, a digit or one of {@code - . _ ~}. */
    public static boolean isUnreserved(byte b) {
        return (b >= 'a' && b <= 'z')
                || (b >= 'A' && b <= 'Z')
                || (b >= '0' && b <= '9')
                || b == '-'
                || b == '.'
                || b == '_'
                || b == '~';
    }

    /**
     * Copies a path in normalized form. Percent-encoded unreserved bytes are decoded; other encodings get upper-case
     * digits. An encoded dot stays encoded, so that no new dot segment appears. Dot segments and empty segments are
     * unchanged. A path with a malformed encoding is copied unchanged, because a partly decoded path could equal
     * another path.
     *
     * @param to has space for {@code end - from} more bytes at {@code at}
     * @return the position after the last byte written
     */
    public static int normalizePath(byte[] bytes, int from, int end, byte[] to, int at) {
        if (!hasEncodingsToNormalize(bytes, from, end)) {
            System.arraycopy(bytes, from, to, at, end - from);
            return at + end - from;
        }
        int out = at;
        int i = from;
        while (i < end) {
            if (bytes[i] != '%') {
                to[out++] = bytes[i++];
                continue;
            }
            int high = FieldLexer.hexDigit(bytes[i + 1]);
            int low = FieldLexer.hexDigit(bytes[i + 2]);
            byte decoded = (byte) (high << 4 | low);
            if (isUnreserved(decoded) && decoded != '.') {
                to[out++] = decoded;
            } else {
                to[out++] = '%';
                to[out++] = HEX[high];
                to[out++] = HEX[low];
            }
            i += 3;
        }
        return out;
    }

    /**
     * Returns true if the range contains a percent sign and every percent sign begins a well-formed encoding. If false,
     * {@link #normalizePath} copies the path unchanged.
     */
    public static boolean hasEncodingsToNormalize(byte[] bytes, int from, int end) {
        boolean found = false;
        for (int i = from; i < end; i++) {
            if (bytes[i] == '%') {
                boolean wellFormed =
                        i + 2 < end && FieldLexer.hexDigit(bytes[i + 1]) >= 0 && FieldLexer.hexDigit(bytes[i + 2]) >= 0;
                if (!wellFormed) {
                    return false;
                }
                found = true;
                i += 2;
            }
        }
        return found;
    }

    /**
     * Returns the bytes as text. Bytes not allowed in URIs are percent-encoded (RFC 3986 s2); existing encodings are
     * unchanged.
     */
    public static String encoded(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length);
        for (byte b : bytes) {
            if (b <= ' ' || b == 127 || "\"<>\\^`{|}".indexOf(b) >= 0) {
                text.append('%').append((char) HEX[b >> 4 & 15]).append((char) HEX[b & 15]);
            } else {
                text.append((char) b);
            }
        }
        return text.toString();
    }

    /** Returns a string with one character for each UTF-8 byte of the text, for {@link #decodesTo}. */
    public static String charPerByte(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    /**
     * Returns true if the percent-decoded range equals the text. A malformed encoding is compared undecoded.
     *
     * @param text one character per byte
     * @param length number of characters of the text to compare
     * @param isPrefix whether further bytes may follow the text in the range
     */
    public static boolean decodesTo(byte[] bytes, int from, int to, String text, int length, boolean isPrefix) {
        int i = from;
        for (int at = 0; at < length; at++) {
            if (i >= to || decodedAt(bytes, i, to) != text.charAt(at)) {
                return false;
            }
            i += widthAt(bytes, i, to);
        }
        return isPrefix || i >= to;
    }

    /**
     * Compares two percent-decoded ranges byte by byte. A range that is the beginning of the other range precedes it.
     */
    public static int compareDecoded(byte[] bytes, int from, int to, int otherFrom, int otherTo) {
        int i = from;
        int k = otherFrom;
        while (i < to && k < otherTo) {
            int order = Integer.compare(decodedAt(bytes, i, to), decodedAt(bytes, k, otherTo));
            if (order != 0) {
                return order;
            }
            i += widthAt(bytes, i, to);
            k += widthAt(bytes, k, otherTo);
        }
        return Boolean.compare(i < to, k < otherTo);
    }

    private static int decodedAt(byte[] bytes, int i, int to) {
        return widthAt(bytes, i, to) == 3
                ? FieldLexer.hexDigit(bytes[i + 1]) << 4 | FieldLexer.hexDigit(bytes[i + 2])
                : bytes[i] & 0xff;
    }

    private static int widthAt(byte[] bytes, int i, int to) {
        boolean encoded = bytes[i] == '%'
                && i + 2 < to
                && FieldLexer.hexDigit(bytes[i + 1]) >= 0
                && FieldLexer.hexDigit(bytes[i + 2]) >= 0;
        return encoded ? 3 : 1;
    }
}
