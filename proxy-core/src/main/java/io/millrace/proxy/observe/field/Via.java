package io.millrace.proxy.observe.field;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * Writes this proxy's entry of the {@code Via} field, such as {@code 1.1 millrace}, and detects loops. The number
 * is the HTTP version of the received message (RFC 9110 section 7.6.3). Immutable.
 */
public final class Via {
    /** The name of the field. */
    public static final String FIELD_NAME = "Via";

    private final byte[] pseudonym;
    private final byte[] http10;
    private final byte[] http11;
    private final byte[] http2;
    private final byte[] http3;

    /**
     * Creates the values for one pseudonym.
     *
     * @param pseudonym the received-by name: a token, or a host with an optional port
     * @throws IllegalArgumentException if it is empty or contains a character that would end the entry
     */
    public Via(String pseudonym) {
        for (int i = 0; i < pseudonym.length(); i++) {
            char c = pseudonym.charAt(i);
            if (c <= ' ' || c > '~' || c == ',' || c == '(' || c == ')' || c == '"') {
                throw new IllegalArgumentException("not a Via pseudonym: " + pseudonym);
            }
        }
        if (pseudonym.isEmpty()) {
            throw new IllegalArgumentException("the Via pseudonym is empty");
        }
        this.pseudonym = ascii(pseudonym);
        http10 = ascii("1.0 " + pseudonym);
        http11 = ascii("1.1 " + pseudonym);
        http2 = ascii("2.0 " + pseudonym);
        http3 = ascii("3.0 " + pseudonym);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Writes the entry for a message of the given HTTP version. Borrows the buffer. */
    public void write(ByteBuf out, int major, int minor) {
        out.writeBytes(member(major, minor));
    }

    private byte[] member(int major, int minor) {
        return switch (major) {
            case 1 -> minor == 0 ? http10 : http11;
            case 2 -> http2;
            default -> http3;
        };
    }

    /**
     * Returns true if a received Via field line names this proxy. Then the request is in a forwarding loop.
     *
     * @param value contains the field value; borrowed
     */
    public boolean isNamedIn(byte[] value, int offset, int length) {
        int end = offset + length;
        int position = offset;
        while (position < end) {
            int received = skipToken(value, skipSpace(value, position, end), end);
            int name = skipSpace(value, received, end);
            if (name > received && isPseudonym(value, name, end)) {
                return true;
            }
            position = nextMember(value, name, end);
        }
        return false;
    }

    /** Returns the position after spaces, tabs and commas. */
    private static int skipSpace(byte[] value, int from, int end) {
        int position = from;
        while (position < end && (value[position] == ' ' || value[position] == '\t' || value[position] == ',')) {
            position++;
        }
        return position;
    }

    /** Returns the position of the next space, control byte or comma. */
    private static int skipToken(byte[] value, int from, int end) {
        int position = from;
        while (position < end && value[position] > ' ' && value[position] != ',') {
            position++;
        }
        return position;
    }

    private boolean isPseudonym(byte[] value, int from, int end) {
        int after = from + pseudonym.length;
        if (after > end) {
            return false;
        }
        for (int i = 0; i < pseudonym.length; i++) {
            if (lower(value[from + i]) != lower(pseudonym[i])) {
                return false;
            }
        }
        return after == end || value[after] == ' ' || value[after] == '\t' || value[after] == ',';
    }

    private static int lower(byte b) {
        return b >= 'A' && b <= 'Z' ? b | 0x20 : b;
    }

    /**
     * Returns the position after the next comma that is not within a comment. Comments nest, and a backslash escapes
     * one character.
     */
    private static int nextMember(byte[] value, int from, int end) {
        int depth = 0;
        for (int i = from; i < end; i++) {
            switch (value[i]) {
                case '\\' -> i++;
                case '(' -> depth++;
                case ')' -> depth--;
                case ',' -> {
                    if (depth <= 0) {
                        return i + 1;
                    }
                }
                default -> {
                    // part of the member
                }
            }
        }
        return end;
    }
}
