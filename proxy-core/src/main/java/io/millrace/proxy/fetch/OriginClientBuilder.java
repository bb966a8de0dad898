package io.millrace.proxy.fetch;

import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.dns.DnsSettings;
import io.millrace.proxy.dns.HostAddresses;
import io.millrace.proxy.dns.NameLookup;
import io.millrace.proxy.fetch.tls.OriginTls;
import io.millrace.proxy.fetch.tls.OriginTlsContexts;
import io.millrace.proxy.net.CountedWrites;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.resolver.NameResolver;
import java.net.InetAddress;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Builds an {@link OriginClient} for an event loop.
 *
 * <p>Confined to one thread.
 */
public final class OriginClientBuilder {

    /** Supplies the TLS context that belongs to the given TLS settings. */
    interface Contexts {
        SslContext of(OriginTlsConfig.Context config, OriginConfig.Http2 http2) throws SSLException;
    }

    private final EventLoop eventLoop;
    private Class<? extends SocketChannel> channelType;
    private Class<? extends DatagramChannel> datagramChannelType;
    private Contexts contexts = OriginTls::of;
    private @Nullable NameResolver<InetAddress> resolver;
    private ByteBufAllocator allocator = ByteBufAllocator.DEFAULT;
    private @Nullable RecvByteBufAllocator receiveBuffers;
    private IntConsumer onSent = bytes -> {};
    private Runnable onWaiting = () -> {};
    private Consumer<Runnable> atEndOfIteration;
    private OriginFaults faults = new OriginFaults(System::currentTimeMillis);
    private ConnectionTotals totals = new ConnectionTotals();
    private Supplier<DnsSettings> dns = () -> DnsSettings.DEFAULTS;

    OriginClientBuilder(EventLoop eventLoop) {
        this.eventLoop = eventLoop;
        atEndOfIteration = eventLoop::execute;
        boolean epoll = eventLoop instanceof IoEventLoop loop && loop.isCompatible(EpollIoHandle.class);
        channelType = epoll ? EpollSocketChannel.class : NioSocketChannel.class;
        datagramChannelType = epoll ? EpollDatagramChannel.class : NioDatagramChannel.class;
    }

    /** Sets the channel types, for an event loop that is neither epoll nor NIO. */
    public OriginClientBuilder channelTypes(
            Class<? extends SocketChannel> stream, Class<? extends DatagramChannel> datagram) {
        channelType = stream;
        datagramChannelType = datagram;
        return this;
    }

    /**
     * Sets one context for all connections to {@code https} origins, independent of the settings of requests. Clients
     * may share it.
     */
    public OriginClientBuilder sslContext(SslContext context) {
        contexts = (settings, http2) -> context;
        return this;
    }

    /**
     * Sets the TLS contexts for connections to {@code https} origins. The TLS settings of a request select the context.
     * Clients share the contexts.
     */
    public OriginClientBuilder tls(OriginTlsContexts shared) {
        contexts = shared::context;
        return this;
    }

    /**
     * Sets a resolver that replaces the DNS client. The origin client closes it. The resolver is never called for IP
     * addresses, {@code localhost} and names ending in {@code .localhost}.
     */
    public OriginClientBuilder resolver(NameResolver<InetAddress> nameResolver) {
        resolver = nameResolver;
        return this;
    }

    /** Sets the buffer allocator of the connections; Netty's default if not called. */
    public OriginClientBuilder allocator(ByteBufAllocator buffers) {
        allocator = buffers;
        return this;
    }

    /** Sets the sizing of receive buffers; Netty's default if not called. */
    public OriginClientBuilder receiveBuffers(RecvByteBufAllocator sizes) {
        receiveBuffers = sizes;
        return this;
    }

    /**
     * Sets a callback for the number of bytes of each write to a connection, TLS records included. The callback runs on
     * the event loop.
     */
    public OriginClientBuilder onSent(IntConsumer listener) {
        onSent = listener;
        return this;
    }

    /**
     * Sets a callback for calls that must wait for a connection. Run on the event loop, within the start of the call.
     */
    public OriginClientBuilder onWaiting(Runnable listener) {
        onWaiting = listener;
        return this;
    }

    /**
     * Sets the function that defers a task to the end of the event loop's iteration. Connections defer their flush with
     * it, so that all requests of an iteration are flushed together. The default is {@code EventLoop.execute}.
     */
    public OriginClientBuilder atEndOfIteration(Consumer<Runnable> tasks) {
        atEndOfIteration = tasks;
        return this;
    }

    /** Sets the log of failed connections; a separate one if not called. Clients share it. */
    public OriginClientBuilder faults(OriginFaults shared) {
        faults = shared;
        return this;
    }

    /**
     * Sets the shared connection counts for the process-wide limit. By default the client counts only its own
     * connections.
     */
    public OriginClientBuilder totals(ConnectionTotals shared) {
        totals = shared;
        return this;
    }

    /** Sets the DNS settings. The supplier is called at each resolution. */
    public OriginClientBuilder dns(Supplier<DnsSettings> settings) {
        dns = settings;
        return this;
    }

    /** Returns the client. It opens no connection before the first call. */
    public OriginClient build() {
        NameResolver<InetAddress> own = resolver;
        NameLookup.Factory lookups = own == null
                ? settings -> NameLookup.byDns(eventLoop, datagramChannelType, channelType, settings)
                : settings -> NameLookup.ofResolver(own);
        return new PooledOriginClient(
                eventLoop,
                channelType,
                allocator,
                new HostAddresses(eventLoop, dns, lookups),
                contexts,
                receiveBuffers,
                new CountedWrites(onSent),
                onWaiting,
                atEndOfIteration,
                faults,
                totals);
    }
}
