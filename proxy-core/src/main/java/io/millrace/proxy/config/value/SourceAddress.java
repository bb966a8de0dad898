package io.millrace.proxy.config.value;

import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The local addresses of connections to origins, at most one for each address family. Immutable.
 *
 * @param ipv4 local address of connections over IPv4; null if the system chooses it
 * @param ipv6 local address of connections over IPv6; null if the system chooses it
 */
public record SourceAddress(
        @Nullable Inet4Address ipv4, @Nullable Inet6Address ipv6) {
    /** The system chooses both addresses. */
    public static final SourceAddress NONE = new SourceAddress(null, null);

    /**
     * Parses one or two addresses. An empty list means {@link #NONE}.
     *
     * @throws InvalidValueException if a text is no address or a link-local IPv6 address, or two addresses have the
     *     same family
     */
    public static SourceAddress of(List<String> texts) throws InvalidValueException {
        Inet4Address four = null;
        Inet6Address six = null;
        for (String text : texts) {
            InetAddress address = parse(text);
            if (address instanceof Inet4Address one && four == null) {
                four = one;
            } else if (address instanceof Inet6Address one && six == null) {
                six = one;
            } else {
                throw new InvalidValueException("'" + text
                        + "' is a second address of its family; the limit is one IPv4" + " and one IPv6 address");
            }
        }
        return new SourceAddress(four, six);
    }

    private static InetAddress parse(String text) throws InvalidValueException {
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(text);
        try {
            InetAddress address = bytes == null ? null : InetAddress.getByAddress(bytes);
            if (address == null || address.isMulticastAddress()) {
                throw new InvalidValueException(
                        "'" + text + "' is not an address of this machine such as 192.0.2.7 or 2001:db8::7");
            }
            boolean linkLocal = address instanceof Inet6Address && address.isLinkLocalAddress();
            if (linkLocal || text.indexOf('%') >= 0) {
                // NetUtil drops the zone, and the system cannot bind a link-local address without it.
                throw new InvalidValueException("'" + text + "' "
                        + (linkLocal ? "is a link-local address" : "has a zone")
                        + ", but connections to origins use no zones; write an address without a zone such as"
                        + " 2001:db8::7");
            }
            return address;
        } catch (UnknownHostException e) {
            throw new InvalidValueException("'" + text + "' is not an address: " + e.getMessage());
        }
    }

    /** Returns the local address for connections to a remote one, with port 0; null if the system chooses it. */
    public @Nullable InetSocketAddress towards(InetAddress remote) {
        InetAddress local = remote instanceof Inet6Address ? ipv6 : ipv4;
        return local == null ? null : new InetSocketAddress(local, 0);
    }

    /** Returns the addresses as written in a configuration, separated by commas. */
    @Override
    public String toString() {
        String four = ipv4 == null ? "" : ipv4.getHostAddress();
        String six = ipv6 == null ? "" : NetUtil.toAddressString(ipv6);
        return four.isEmpty() || six.isEmpty() ? four + six : four + ", " + six;
    }
}
