package io.millrace.launcher.importing.source;

import io.millrace.proxy.config.value.AddressSet;
import io.netty.util.NetUtil;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Converts IP addresses and ranges of other proxies to the syntax of Millrace. Stateless. */
public final class Addresses {
    private Addresses() {}

    /** Converts an address or a range. The range {@code 0/0} means all IPv4 addresses. */
    public static String of(String text) {
        String negative = text.startsWith("~") ? "~" : "";
        String range = text.substring(negative.length()).strip();
        if (range.equals("0/0") || range.equals("0.0.0.0-255.255.255.255")) {
            range = "0.0.0.0/0";
        } else if (range.equalsIgnoreCase("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")) {
            range = "::/0";
        }
        return negative + withoutHostBits(range);
    }

    /**
     * Returns the text that other proxies log and compare for an address: IPv6 in lower case with the longest run of
     * zeros left out (RFC 5952). Returns null if the text is not an address, or is an IPv4-mapped address: in Millrace,
     * such a client has its IPv4 address.
     */
    public static @Nullable String text(String address) {
        byte[] bytes = address.matches("[0-9a-fA-F.:]+") ? NetUtil.createByteArrayFromIpAddressString(address) : null;
        if (bytes == null || (bytes.length == 4 && address.contains(":"))) {
            return null;
        }
        String text = NetUtil.bytesToIpAddress(bytes);
        return bytes.length == 16 && text.contains(".") ? null : text;
    }

    /** Returns true for an IPv4-mapped address or range, such as {@code ::ffff:10.0.0.0/104}. */
    public static boolean isMapped(String range) {
        int slash = range.indexOf('/');
        String address = slash < 0 ? range : range.substring(0, slash);
        byte[] bytes = address.contains(":") ? NetUtil.createByteArrayFromIpAddressString(address) : null;
        if (bytes == null || (slash >= 0 && !range.substring(slash + 1).matches("9[6-9]|1[01]\\d|12[0-8]"))) {
            return false;
        }
        for (int i = 0; bytes.length == 16 && i < 12; i++) {
            if (bytes[i] != (i < 10 ? 0 : -1)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the IPv4 address or range of an IPv4-mapped one. */
    public static String ofMapped(String range) {
        int slash = range.indexOf('/');
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(slash < 0 ? range : range.substring(0, slash));
        byte[] last = java.util.Arrays.copyOfRange(bytes, bytes.length - 4, bytes.length);
        int bits = slash < 0 ? 128 : Integer.parseInt(range.substring(slash + 1));
        return of(NetUtil.bytesToIpAddress(last) + (bits == 128 ? "" : "/" + (bits - 96)));
    }

    /**
     * Clears the address bits beyond the prefix length, which other proxies ignore: {@code 10.0.0.1/8} becomes
     * {@code 10.0.0.0/8}.
     */
    private static String withoutHostBits(String range) {
        int slash = range.indexOf('/');
        byte[] address = slash < 0 ? null : NetUtil.createByteArrayFromIpAddressString(range.substring(0, slash));
        String bits = range.substring(slash + 1);
        if (address == null || !bits.matches("\\d{1,3}") || Integer.parseInt(bits) > address.length * 8) {
            return range;
        }
        boolean hasHostBits = false;
        for (int bit = Integer.parseInt(bits); bit < address.length * 8; bit++) {
            int mask = 0x80 >> (bit & 7);
            hasHostBits |= (address[bit >> 3] & mask) != 0;
            address[bit >> 3] &= (byte) ~mask;
        }
        return hasHostBits ? NetUtil.bytesToIpAddress(address) + "/" + bits : range;
    }

    /** Converts all texts. */
    public static List<String> of(List<String> texts) {
        List<String> all = new ArrayList<>();
        texts.forEach(text -> all.add(of(text)));
        return all;
    }

    /** Returns the problem with the addresses; null if all can be parsed. */
    public static @Nullable String problem(List<String> addresses) {
        try {
            AddressSet.parse(addresses.toArray(String[]::new));
            return null;
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }
}
