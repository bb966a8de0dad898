package io.millrace.cli.log;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** A range of IP addresses: {@code 10.0.0.0/8}, {@code 2001:db8::/32}, or one address. Immutable. */
final class AddressRange {
    private final byte[] address;
    private final int bits;

    private AddressRange(byte[] address, int bits) {
        this.address = address;
        this.bits = bits;
    }

    /**
     * Parses a range.
     *
     * @throws IllegalArgumentException if the text is not a range; the message contains the text
     */
    static AddressRange of(String text) {
        int slash = text.indexOf('/');
        byte[] address = address(slash < 0 ? text : text.substring(0, slash));
        if (address == null) {
            throw new IllegalArgumentException("not an address or a range such as 10.0.0.0/8: " + text);
        }
        long bits = slash < 0 ? address.length * 8L : LogParser.number(text.substring(slash + 1));
        if (bits < 0 || bits > address.length * 8L) {
            throw new IllegalArgumentException("not a range such as 10.0.0.0/8: " + text);
        }
        return new AddressRange(address, (int) bits);
    }

    boolean contains(String text) {
        byte[] other = address(text);
        if (other == null || other.length != address.length) {
            return false;
        }
        for (int bit = 0; bit < bits; bit++) {
            int mask = 0x80 >> (bit & 7);
            if ((address[bit >> 3] & mask) != (other[bit >> 3] & mask)) {
                return false;
            }
        }
        return true;
    }

    /** Parses an address without resolving names; returns null for other text. */
    private static byte @Nullable [] address(String text) {
        boolean hasColon = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            hasColon |= c == ':';
            if (c != ':' && c != '.' && Character.digit(c, 16) < 0) {
                return null;
            }
        }
        if (text.isEmpty() || (!hasColon && !isDottedIpV4(text))) {
            return null;
        }
        try {
            return InetAddress.getByName(hasColon ? "[" + text + "]" : text).getAddress();
        } catch (UnknownHostException e) {
            return null;
        }
    }

    private static boolean isDottedIpV4(String text) {
        int parts = 0;
        int start = 0;
        while (start <= text.length()) {
            int end = text.indexOf('.', start);
            end = end < 0 ? text.length() : end;
            long number = LogParser.number(text.substring(start, end));
            if (number < 0 || number > 255) {
                return false;
            }
            parts++;
            start = end + 1;
        }
        return parts == 4;
    }
}
