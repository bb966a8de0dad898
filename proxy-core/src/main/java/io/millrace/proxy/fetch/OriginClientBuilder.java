package io.millrace.proxy.fetch;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.resolver.NameResolver;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddresses;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Collects what an {@link OriginClient} needs besides its event loop.
 *
 * <p>Confined to one thread.
 */
public final class OriginClientBuilder {

    private static final int NEGATIVE_TTL_SECONDS = 5;

    private final EventLoop eventLoop;
    private Class<? extends SocketChannel> channelType;
    private Class<? extends DatagramChannel> datagramChannelType;
    private @Nullable SslContext sslContext;
    private @Nullable NameResolver<InetAddress> resolver;
    private ByteBufAllocator allocator = ByteBufAllocator.DEFAULT;
    private @Nullable DnsServerAddresses nameServers;
    private int dnsTtlMinSeconds = 1;
    private int dnsTtlMaxSeconds = 300;
    private long dnsQueryTimeoutMillis = 2_000;

    OriginClientBuilder(EventLoop eventLoop) {
        this.eventLoop = eventLoop;
        boolean epoll = eventLoop instanceof IoEventLoop loop && loop.isCompatible(EpollIoHandle.class);
        channelType = epoll ? EpollSocketChannel.class : NioSocketChannel.class;
        datagramChannelType = epoll ? EpollDatagramChannel.class : NioDatagramChannel.class;
    }

    /** The channels to use, where the event loop is neither epoll nor NIO. */
    public OriginClientBuilder channelTypes(
            Class<? extends SocketChannel> stream, Class<? extends DatagramChannel> datagram) {
        channelType = stream;
        datagramChannelType = datagram;
        return this;
    }

    /** How connections to {@code https} origins are made; {@link OriginTls#verifying()} by default. Several clients may share one context. */
    public OriginClientBuilder sslContext(SslContext context) {
        sslContext = context;
        return this;
    }

    /**
     * Resolves names in place of the system's name servers and hosts file. Closed with the client. Addresses, {@code localhost} and names below it never reach
     * it.
     */
    public OriginClientBuilder resolver(NameResolver<InetAddress> nameResolver) {
        resolver = nameResolver;
        return this;
    }

    /** Where the connections' buffers come from; Netty's default allocator unless told otherwise. */
    public OriginClientBuilder allocator(ByteBufAllocator buffers) {
        allocator = buffers;
        return this;
    }

    /** Bounds for how long a name's addresses are kept, whatever their record says; in seconds. */
    public OriginClientBuilder dnsTtlSeconds(int min, int max) {
        dnsTtlMinSeconds = min;
        dnsTtlMaxSeconds = max;
        return this;
    }

    /** The name servers to ask, in turn, in place of those that the system names in {@code /etc/resolv.conf}. */
    public OriginClientBuilder nameServers(InetSocketAddress... servers) {
        nameServers = DnsServerAddresses.sequential(servers);
        return this;
    }

    /** How long one query to a name server may take before the next server is asked, in milliseconds. */
    public OriginClientBuilder dnsQueryTimeoutMillis(long millis) {
        dnsQueryTimeoutMillis = millis;
        return this;
    }

    /** The client. It takes no connection before it is asked to fetch. */
    public OriginClient build() {
        NameResolver<InetAddress> names = resolver == null ? systemResolver() : resolver;
        SslContext given = sslContext;
        // Loading the trust store takes a while: not before somebody asks for an https origin.
        Supplier<SslContext> tls = given == null ? OriginTls::verifying : () -> given;
        return new PooledOriginClient(eventLoop, channelType, allocator, new OriginAddresses(eventLoop, names), tls);
    }

    private NameResolver<InetAddress> systemResolver() {
        DnsNameResolverBuilder builder = new DnsNameResolverBuilder(eventLoop)
                .datagramChannelType(datagramChannelType)
                .socketChannelType(channelType)
                .resolvedAddressTypes(ResolvedAddressTypes.IPV4_PREFERRED)
                .ttl(dnsTtlMinSeconds, dnsTtlMaxSeconds)
                .negativeTtl(NEGATIVE_TTL_SECONDS)
                .queryTimeoutMillis(dnsQueryTimeoutMillis);
        DnsServerAddresses servers = nameServers;
        return servers == null
                ? builder.build()
                : builder.nameServerProvider(hostname -> servers.stream())
                        .searchDomains(List.of())
                        .build();
    }
}
