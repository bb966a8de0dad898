package io.millrace.proxy.fetch;

import io.netty.channel.EventLoop;
import io.netty.resolver.NameResolver;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;

/**
 * The addresses of an origin's host: the host itself when it is an address, the loopback addresses for {@code localhost} and names below it (RFC 6761 s6.3), and
 * what the resolver says for every other name.
 *
 * <p>Confined to one event loop.
 */
final class OriginAddresses implements AutoCloseable {

    private static final List<InetAddress> LOOPBACK = List.of(
            address("localhost", 127, 0, 0, 1), address("localhost", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));

    private final EventLoop eventLoop;
    private final NameResolver<InetAddress> resolver;

    OriginAddresses(EventLoop eventLoop, NameResolver<InetAddress> resolver) {
        this.eventLoop = eventLoop;
        this.resolver = resolver;
    }

    /** Finds all addresses, best first; fails when there is none. */
    Future<List<InetAddress>> resolve(String host) {
        byte[] literal = NetUtil.createByteArrayFromIpAddressString(host);
        if (literal != null) {
            return eventLoop.newSucceededFuture(List.of(address(host, literal)));
        }
        String name = host.toLowerCase(Locale.ROOT);
        if (name.equals("localhost") || name.endsWith(".localhost")) {
            return eventLoop.newSucceededFuture(LOOPBACK);
        }
        return resolver.resolveAll(host);
    }

    @Override
    public void close() {
        resolver.close();
    }

    private static InetAddress address(String host, int... octets) {
        byte[] bytes = new byte[octets.length];
        for (int i = 0; i < octets.length; i++) {
            bytes[i] = (byte) octets[i];
        }
        return address(host, bytes);
    }

    private static InetAddress address(String host, byte[] bytes) {
        try {
            return InetAddress.getByAddress(host, bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("an address of " + bytes.length + " bytes", e);
        }
    }
}
