package io.millrace.proxy.net.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The result of parsing a PROXY protocol header, version 1 or 2. A load balancer sends this header before the
 * client's bytes, to pass on the client's address. Specified in HAProxy's proxy-protocol.txt of 2020. Immutable.
 *
 * <pre>
 *   1   PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n       at most 107 bytes
 *   2   12 bytes signature, version and command, family, 2 bytes length, addresses, TLVs
 * </pre>
 *
 * @param kind the result of parsing
 * @param length length of the header in bytes
 * @param client the client's address in the header; null if the header has none, so that the address of the
 * connection's peer applies
 * @param secure whether the header states, in its SSL TLV, that the client connected to the load balancer over TLS
 */
record ProxyHeader(Kind kind, int length, @Nullable InetSocketAddress client, boolean secure) {
    /** The result of parsing. */
    enum Kind {
        /** The bytes are a prefix of a possible header. */
        INCOMPLETE,
        /** The bytes are not a header: the connection begins with another protocol. */
        NONE,
        /** The bytes begin like a header but violate its syntax, or are too long. */
        MALFORMED,
        /** The bytes begin with a complete header. */
        COMPLETE
    }

    private static final byte[] SIGNATURE_1 = "PROXY ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] SIGNATURE_2 = {13, 10, 13, 10, 0, 13, 10, 'Q', 'U', 'I', 'T', 10};

    /** Limit of a version 1 header in bytes, including the line end. */
    private static final int LENGTH_MAX_1 = 107;

    /** Length of the fixed part of a version 2 header, before the addresses. */
    private static final int FIXED_2 = 16;

    /** Length of two IPv4 addresses and two ports. */
    private static final int ADDRESSES_V4 = 12;
    /** Length of two IPv6 addresses and two ports. */
    private static final int ADDRESSES_V6 = 36;

    /** Length of the type and length fields of a TLV. */
    private static final int TLV_HEAD = 3;

    /** Type of a TLV with properties of the client's TLS connection (PP2_TYPE_SSL). */
    private static final int TLV_SSL = 0x20;
    /** Bit that states that the client used TLS (PP2_CLIENT_SSL). */
    private static final int CLIENT_SSL = 0x01;

    private static final ProxyHeader INCOMPLETE = new ProxyHeader(Kind.INCOMPLETE, 0, null, false);
    private static final ProxyHeader NONE = new ProxyHeader(Kind.NONE, 0, null, false);
    private static final ProxyHeader MALFORMED = new ProxyHeader(Kind.MALFORMED, 0, null, false);

    /**
     * Parses the readable bytes. Borrows the buffer and does not change its indices.
     *
     * @param lengthMax limit of a version 2 header in bytes
     */
    static ProxyHeader parse(ByteBuf in, int lengthMax) {
        Kind first = begins(in, SIGNATURE_1);
        if (first == Kind.COMPLETE) {
            return version1(in);
        }
        Kind second = begins(in, SIGNATURE_2);
        if (second == Kind.COMPLETE) {
            return version2(in, lengthMax);
        }
        return first == Kind.INCOMPLETE || second == Kind.INCOMPLETE ? INCOMPLETE : NONE;
    }

    /**
     * Returns true if the bytes begin with a complete signature. Then they are a header or an error, but not a
     * request.
     */
    static boolean isBegun(ByteBuf in) {
        return begins(in, SIGNATURE_1) == Kind.COMPLETE || begins(in, SIGNATURE_2) == Kind.COMPLETE;
    }

    private static Kind begins(ByteBuf in, byte[] signature) {
        int length = Math.min(in.readableBytes(), signature.length);
        for (int i = 0; i < length; i++) {
            if (in.getByte(in.readerIndex() + i) != signature[i]) {
                return Kind.NONE;
            }
        }
        return length == signature.length ? Kind.COMPLETE : Kind.INCOMPLETE;
    }

    private static ProxyHeader version1(ByteBuf in) {
        int start = in.readerIndex();
        int limit = Math.min(in.readableBytes(), LENGTH_MAX_1);
        for (int i = 0; i < limit; i++) {
            byte b = in.getByte(start + i);
            if (b == '\r') {
                if (i + 1 == limit) {
                    return in.readableBytes() < LENGTH_MAX_1 ? INCOMPLETE : MALFORMED;
                }
                return in.getByte(start + i + 1) == '\n'
                        ? line(in.toString(start, i, StandardCharsets.US_ASCII), i + 2)
                        : MALFORMED;
            }
            if (b < ' ' || b > '~') {
                return MALFORMED;
            }
        }
        return limit < LENGTH_MAX_1 ? INCOMPLETE : MALFORMED;
    }

    private static ProxyHeader line(String text, int length) {
        String[] words = text.split(" ", -1);
        if (words[1].equals("UNKNOWN")) {
            return new ProxyHeader(Kind.COMPLETE, length, null, false);
        }
        if (words.length != 6) {
            return MALFORMED;
        }
        int bytes = words[1].equals("TCP4") ? 4 : words[1].equals("TCP6") ? 16 : 0;
        byte[] source = address(words[2], bytes);
        int port = port(words[4]);
        return source == null || address(words[3], bytes) == null || port < 0 || port(words[5]) < 0
                ? MALFORMED
                : of(source, port, length, false);
    }

    /** Parses an IP address in canonical form: IPv4 without leading zeros, IPv6 without brackets and zone. */
    private static byte @Nullable [] address(String text, int length) {
        if (text.indexOf('[') >= 0 || text.indexOf('%') >= 0 || (length == 16) != (text.indexOf(':') >= 0)) {
            return null;
        }
        byte[] address = NetUtil.createByteArrayFromIpAddressString(text);
        if (address == null || address.length != length) {
            return null;
        }
        return length == 4 && !NetUtil.bytesToIpAddress(address).equals(text) ? null : address;
    }

    private static int port(String text) {
        boolean digits = !text.isEmpty() && text.length() <= 5 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!digits || (text.length() > 1 && text.charAt(0) == '0')) {
            return -1;
        }
        int port = Integer.parseInt(text);
        return port <= 0xffff ? port : -1;
    }

    private static ProxyHeader version2(ByteBuf in, int lengthMax) {
        if (in.readableBytes() < FIXED_2) {
            return INCOMPLETE;
        }
        int start = in.readerIndex();
        int versionAndCommand = in.getByte(start + 12) & 0xff;
        int family = in.getByte(start + 13) & 0xff;
        // Length of the addresses and the TLVs.
        int addressBytes = in.getUnsignedShort(start + 14);
        int length = FIXED_2 + addressBytes;
        boolean local = versionAndCommand == 0x20;
        if ((!local && versionAndCommand != 0x21) || length > lengthMax) {
            return MALFORMED;
        }
        if (in.readableBytes() < length) {
            return INCOMPLETE;
        }
        // LOCAL means a connection of the load balancer itself, such as a health check. Connections of an unknown
        // family or over a Unix socket have no IP address.
        if (local || family == 0x00 || family == 0x31) {
            return new ProxyHeader(Kind.COMPLETE, length, null, false);
        }
        // 0x11 is TCP over IPv4, 0x21 is TCP over IPv6.
        if (family == 0x11 && addressBytes >= ADDRESSES_V4) {
            boolean secure = isTls(in, start + FIXED_2 + ADDRESSES_V4, start + length);
            return of(bytes(in, start + FIXED_2, 4), in.getUnsignedShort(start + FIXED_2 + 8), length, secure);
        }
        if (family == 0x21 && addressBytes >= ADDRESSES_V6) {
            boolean secure = isTls(in, start + FIXED_2 + ADDRESSES_V6, start + length);
            return of(bytes(in, start + FIXED_2, 16), in.getUnsignedShort(start + FIXED_2 + 32), length, secure);
        }
        return MALFORMED;
    }

    /**
     * Returns true if a TLV of type PP2_TYPE_SSL has PP2_CLIENT_SSL set (section 2.2.5 of the specification).
     * Returns false if the TLVs exceed the header.
     */
    private static boolean isTls(ByteBuf in, int from, int end) {
        boolean secure = false;
        int at = from;
        while (at < end) {
            int value = at + TLV_HEAD;
            int next = value <= end ? value + in.getUnsignedShort(at + 1) : end + 1;
            if (next > end) {
                return false;
            }
            if ((in.getByte(at) & 0xff) == TLV_SSL && next > value) {
                secure = (in.getByte(value) & CLIENT_SSL) != 0;
            }
            at = next;
        }
        return secure;
    }

    private static byte[] bytes(ByteBuf in, int from, int length) {
        byte[] bytes = new byte[length];
        in.getBytes(from, bytes);
        return bytes;
    }

    private static ProxyHeader of(byte[] source, int port, int length, boolean secure) {
        try {
            InetAddress client = InetAddress.getByAddress(source);
            // Senders such as Varnish write 0.0.0.0 for a client on a Unix socket, which has no address.
            boolean isNone = client.isAnyLocalAddress();
            return new ProxyHeader(Kind.COMPLETE, length, isNone ? null : new InetSocketAddress(client, port), secure);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("length of an address: " + Arrays.toString(source), e);
        }
    }
}
