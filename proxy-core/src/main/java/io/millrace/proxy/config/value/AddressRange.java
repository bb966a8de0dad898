package io.millrace.proxy.config.value;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An IP address, or all addresses with the same prefix: {@code 192.0.2.7}, {@code 10.0.0.0/8}, {@code 2001:db8::/32}.
 * {@code unix:} is the range of peers of Unix sockets, whose address is 0.0.0.0. Immutable.
 */
public final class AddressRange {
    /** The peers of Unix sockets, which have no IP address, as a range. */
    static final String UNIX_PEERS = "unix:";

    private final byte[] prefix;
    private final int bits;

    private AddressRange(byte[] prefix, int bits) {
        this.prefix = prefix;
        this.bits = bits;
    }

    public static AddressRange parse(String text) throws InvalidValueException {
        if (text.equals(UNIX_PEERS)) {
            return new AddressRange(new byte[4], 32);
        }
        int slash = text.indexOf('/');
        byte[] address = NetUtil.createByteArrayFromIpAddressString(slash < 0 ? text : text.substring(0, slash));
        if (address == null) {
            throw new InvalidValueException("'" + text + "' is neither an address nor a range such as 10.0.0.0/8");
        }
        int all = address.length * 8;
        int bits = all;
        if (slash >= 0) {
            String number = text.substring(slash + 1);
            bits = number.isEmpty() || number.length() > 3 || !number.chars().allMatch(c -> c >= '0' && c <= '9')
                    ? -1
                    : Integer.parseInt(number);
            if (bits < 0 || bits > all) {
                throw new InvalidValueException("'" + text + "' has a prefix that is not 0 to " + all + " bits long");
            }
        }
        for (int bit = bits; bit < all; bit++) {
            if ((address[bit >> 3] & 0x80 >> (bit & 7)) != 0) {
                throw new InvalidValueException("'" + text + "' has bits set beyond its prefix of " + bits);
            }
        }
        return new AddressRange(address, bits);
    }

    /** Returns true if the range contains the address; an IPv4-mapped IPv6 address counts as IPv4. */
    public boolean contains(InetAddress address) {
        return contains(address.getAddress());
    }

    /** Returns true if the range contains the address with these bytes, in network order. */
    public boolean contains(byte[] other) {
        if (other.length != prefix.length) {
            return false;
        }
        for (int i = 0; i < bits >> 3; i++) {
            if (other[i] != prefix[i]) {
                return false;
            }
        }
        int remainingBits = bits & 7;
        return remainingBits == 0 || ((other[bits >> 3] ^ prefix[bits >> 3]) & 0xff00 >> remainingBits & 0xff) == 0;
    }

    /** The number of bits in the prefix. */
    int bits() {
        return bits;
    }

    /** Returns the address and the prefix length. */
    @Override
    public String toString() {
        return NetUtil.bytesToIpAddress(prefix) + "/" + bits;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AddressRange that && bits == that.bits && Arrays.equals(prefix, that.prefix);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(prefix) + bits;
    }
}
