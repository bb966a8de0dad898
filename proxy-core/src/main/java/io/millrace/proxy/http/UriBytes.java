package io.millrace.proxy.http;

import java.nio.charset.StandardCharsets;

/** Byte classes of URIs and the normalisation that changes nothing about their meaning (RFC 3986 s2.3, s6.2.2). */
public final class UriBytes {

    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};

    private UriBytes() {}

    /** Whether the byte is a letter, a digit or one of {@code - . _ ~}. */
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
     * Copies a path in normal form: percent-encoded unreserved bytes decoded, the digits of other encodings in
     * capitals. An encoded dot stays encoded, so that no dot segment appears that was not there; dot segments and
     * empty segments stay as they are. A path with a malformed encoding is copied byte for byte: decoding next to it
     * could make it look like another path.
     *
     * @param to has room for {@code end - from} more bytes at {@code at}
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
     * Whether {@link #normalizePath} reads encodings in the range: there is a percent sign, and each begins a well-formed encoding.
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

    /** The bytes as text, those percent-encoded that no URI has (RFC 3986 s2); encodings stay as they are. */
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

    /** The text in UTF-8, with one character for each byte, as {@link #decodesTo} compares. */
    public static String asBytes(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    /**
     * Whether the range, percent-decoded, is the text; a malformed encoding stands for itself.
     *
     * @param text one character for each byte
     * @param length how much of the text counts
     * @param begins whether the range may go on after the text
     */
    public static boolean decodesTo(byte[] bytes, int from, int to, String text, int length, boolean begins) {
        int i = from;
        for (int at = 0; at < length; at++) {
            if (i >= to || decodedAt(bytes, i, to) != text.charAt(at)) {
                return false;
            }
            i += widthAt(bytes, i, to);
        }
        return begins || i >= to;
    }

    /** The order of two ranges, byte by byte, percent-decoded; a range goes before those that it begins. */
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
