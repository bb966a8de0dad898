package io.millrace.proxy.http;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * An IP address as 128 bits. IPv4 is in its mapped form {@code ::ffff:a.b.c.d} (RFC 4291 s2.5.5.2), so that both
 * notations of an address are equal. Immutable.
 *
 * @param high the first 64 bits
 * @param low the last 64 bits
 */
public record IpAddress(long high, long low) {
    private static final long MAPPED = 0xffff_0000_0000L;

    /**
     * Creates an address from bytes in network order.
     *
     * @throws IllegalArgumentException if the length is neither 4 nor 16
     */
    public static IpAddress of(byte[] address) {
        return switch (address.length) {
            case 4 -> new IpAddress(0, MAPPED | number(address, 0, 4));
            case 16 -> new IpAddress(number(address, 0, 8), number(address, 8, 8));
            default -> throw new IllegalArgumentException("length: actual=" + address.length + ", limit=4 or 16");
        };
    }

    private static long number(byte[] bytes, int from, int length) {
        long number = 0;
        for (int i = from; i < from + length; i++) {
            number = (number << 8) | (bytes[i] & 0xff);
        }
        return number;
    }

    /** Returns true if the address is IPv4 in any notation. */
    public boolean isV4() {
        return high == 0 && low >>> 32 == MAPPED >>> 32;
    }

    /** Returns the address in text form; IPv6 without abbreviation. */
    public String toText() {
        StringBuilder text = new StringBuilder();
        if (isV4()) {
            for (int shift = 24; shift >= 0; shift -= 8) {
                text.append((v4() >>> shift) & 0xff).append(shift > 0 ? "." : "");
            }
            return text.toString();
        }
        for (int group = 0; group < 8; group++) {
            long half = group < 4 ? high : low;
            text.append(group > 0 ? ":" : "").append(Long.toHexString((half >>> ((3 - group % 4) * 16)) & 0xffff));
        }
        return text.toString();
    }

    /** Returns the bytes in network order: 4 for IPv4, otherwise 16. */
    public byte[] bytes() {
        ByteBuffer all = ByteBuffer.allocate(16).putLong(high).putLong(low);
        return isV4() ? Arrays.copyOfRange(all.array(), 12, 16) : all.array();
    }

    /** The 32 bits of an IPv4 address. */
    public long v4() {
        return low & 0xffff_ffffL;
    }
}
