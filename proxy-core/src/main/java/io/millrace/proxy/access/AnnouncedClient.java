package io.millrace.proxy.access;

import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Writes a PROXY header, which tells an origin the address of the client (PROXY protocol of HAProxy). Stateless. */
public final class AnnouncedClient {
    private static final byte[] SIGNATURE_2 = {13, 10, 13, 10, 0, 13, 10, 'Q', 'U', 'I', 'T', 10};
    private static final byte PROXY = 0x21;
    private static final byte LOCAL = 0x20;
    private static final byte TCP4 = 0x11;
    private static final byte TCP6 = 0x21;

    private AnnouncedClient() {}

    /**
     * Returns the complete PROXY header. If one address is IPv6, both are written as IPv6, with IPv4 in its mapped
     * form. If one is not an IP address, or the client uses a Unix socket, the header reports an unknown client.
     *
     * @param version 1 or 2
     * @param client source address of the connection
     * @param local address that the client connected to
     */
    public static byte[] header(int version, InetSocketAddress client, InetSocketAddress local) {
        InetAddress from = client.getAddress();
        InetAddress to = local.getAddress();
        if (from == null || to == null || from.isAnyLocalAddress()) {
            return version == 1
                    ? "PROXY UNKNOWN\r\n".getBytes(StandardCharsets.US_ASCII)
                    : binary(LOCAL, (byte) 0, new byte[0], new byte[0], 0, 0);
        }
        boolean v4 = from instanceof Inet4Address && to instanceof Inet4Address;
        byte[] source = v4 ? from.getAddress() : ipv6Bytes(from);
        byte[] destination = v4 ? to.getAddress() : ipv6Bytes(to);
        if (version == 2) {
            return binary(PROXY, v4 ? TCP4 : TCP6, source, destination, client.getPort(), local.getPort());
        }
        String line = "PROXY " + (v4 ? "TCP4 " : "TCP6 ") + NetUtil.bytesToIpAddress(source) + " "
                + NetUtil.bytesToIpAddress(destination) + " " + client.getPort() + " " + local.getPort() + "\r\n";
        return line.getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns an IPv6 address as it is, and an IPv4 address in its IPv6-mapped form. */
    private static byte[] ipv6Bytes(InetAddress address) {
        byte[] bytes = address.getAddress();
        return bytes.length == 16
                ? bytes
                : ByteBuffer.allocate(16)
                        .position(10)
                        .putShort((short) 0xffff)
                        .put(bytes)
                        .array();
    }

    private static byte[] binary(byte command, byte family, byte[] source, byte[] destination, int from, int to) {
        int addresses = source.length == 0 ? 0 : 2 * source.length + 4;
        ByteBuffer header = ByteBuffer.allocate(16 + addresses)
                .put(SIGNATURE_2)
                .put(command)
                .put(family)
                .putShort((short) addresses);
        if (addresses > 0) {
            header.put(source).put(destination).putShort((short) from).putShort((short) to);
        }
        return header.array();
    }
}
