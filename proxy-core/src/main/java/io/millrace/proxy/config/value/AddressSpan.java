package io.millrace.proxy.config.value;

import io.millrace.proxy.http.IpAddress;
import io.netty.util.NetUtil;
import java.util.List;

/**
 * A range of addresses of one family, both ends included. Immutable.
 *
 * @param v4 whether the addresses are IPv4; then only the last 32 bits of each are used
 */
record AddressSpan(boolean v4, long fromHigh, long fromLow, long toHigh, long toLow) {
    private static final AddressSpan ALL_V4 = new AddressSpan(true, 0, 0, 0, 0xffff_ffffL);

    /** Every address. IPv6 is split into two spans around the IPv4-mapped block. */
    static final List<AddressSpan> ALL = List.of(
            ALL_V4,
            new AddressSpan(false, 0, 0, 0, 0xfffe_ffff_ffffL),
            new AddressSpan(false, 0, 0x1_0000_0000_0000L, -1, -1));

    /**
     * Parses {@code 192.0.2.7}, {@code 10.0.0.0/8}, {@code 192.0.2.1-192.0.2.9}, the same forms in IPv6, or
     * {@code all}. {@code unix:} is the address of the peers of Unix sockets, 0.0.0.0.
     *
     * @return spans of one family; of both for {@code all}
     */
    static List<AddressSpan> parse(String text) throws InvalidValueException {
        if (text.equals("all")) {
            return ALL;
        }
        if (text.equals(AddressRange.UNIX_PEERS)) {
            return List.of(new AddressSpan(true, 0, 0, 0, 0));
        }
        int dash = text.indexOf('-');
        if (dash >= 0) {
            byte[] first = NetUtil.createByteArrayFromIpAddressString(
                    text.substring(0, dash).trim());
            byte[] last = NetUtil.createByteArrayFromIpAddressString(
                    text.substring(dash + 1).trim());
            if (first == null || last == null) {
                throw invalid(text);
            }
            if (first.length != last.length) {
                throw new InvalidValueException("'" + text + "' begins with an address of another family than its end");
            }
            return between(text, IpAddress.of(first), IpAddress.of(last), first.length == 4);
        }
        int slash = text.indexOf('/');
        byte[] address = NetUtil.createByteArrayFromIpAddressString(slash < 0 ? text : text.substring(0, slash));
        if (address == null) {
            throw invalid(text);
        }
        int bits = AddressRange.parse(text).bits();
        byte[] last = address.clone();
        for (int bit = bits; bit < last.length * 8; bit++) {
            last[bit >> 3] |= (byte) (0x80 >> (bit & 7));
        }
        return between(text, IpAddress.of(address), IpAddress.of(last), address.length == 4);
    }

    private static InvalidValueException invalid(String text) {
        return new InvalidValueException(
                "'" + text + "' is neither an address nor a range such as 10.0.0.0/8 or 10.0.0.1-10.0.0.9");
    }

    private static List<AddressSpan> between(String text, IpAddress from, IpAddress to, boolean isWrittenAsV4)
            throws InvalidValueException {
        if (isAfter(from.high(), from.low(), to.high(), to.low())) {
            throw new InvalidValueException("'" + text + "' ends before it begins");
        }
        if (isWrittenAsV4 || (from.isV4() && to.isV4())) {
            return List.of(new AddressSpan(true, 0, from.v4(), 0, to.v4()));
        }
        return List.of(new AddressSpan(false, from.high(), from.low(), to.high(), to.low()));
    }

    /** Returns true if an address is greater than another one. */
    static boolean isAfter(long high, long low, long otherHigh, long otherLow) {
        int order = Long.compareUnsigned(high, otherHigh);
        return order != 0 ? order > 0 : Long.compareUnsigned(low, otherLow) > 0;
    }
}
