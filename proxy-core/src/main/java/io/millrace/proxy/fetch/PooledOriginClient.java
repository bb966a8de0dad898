package io.millrace.proxy.fetch;

import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.dns.DnsStatistics;
import io.millrace.proxy.dns.HostAddresses;
import io.millrace.proxy.fetch.http2.Http2ClientBuffers;
import io.millrace.proxy.net.CountedWrites;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.handler.ssl.SslContext;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * An {@link OriginClient} with connection pools. Each {@link OriginPool} is created at the first request for its key,
 * and removed when empty.
 *
 * <p>Confined to one event loop.
 */
final class PooledOriginClient implements OriginClient {

    private final EventLoop eventLoop;
    private final Bootstrap bootstrap;
    private final Bootstrap socketBootstrap;
    private final HostAddresses addresses;
    private final OriginClientBuilder.Contexts sslContext;
    private final OriginStatistics statistics = new OriginStatistics();
    private final Map<OriginPool.Key, OriginPool> pools = new HashMap<>();
    /** The open call that began last. All open calls form a doubly linked list. Null if there is none. */
    private @Nullable PooledCall lastCall;

    private final Consumer<Runnable> atEndOfIteration;
    private final CountedWrites writes;
    private final Runnable onWaiting;
    private final OriginFaults faults;
    private final ConnectionTotals totals;
    private final boolean epoll;
    private @Nullable Http2ClientBuffers http2;
    private boolean closed;

    PooledOriginClient(
            EventLoop eventLoop,
            Class<? extends SocketChannel> channelType,
            ByteBufAllocator allocator,
            HostAddresses addresses,
            OriginClientBuilder.Contexts sslContext,
            @Nullable RecvByteBufAllocator receiveBuffers,
            CountedWrites writes,
            Runnable onWaiting,
            Consumer<Runnable> atEndOfIteration,
            OriginFaults faults,
            ConnectionTotals totals) {
        this.faults = faults;
        this.totals = totals;
        epoll = EpollSocketChannel.class.isAssignableFrom(channelType);
        this.writes = writes;
        this.onWaiting = onWaiting;
        this.atEndOfIteration = atEndOfIteration;
        this.eventLoop = eventLoop;
        this.addresses = addresses;
        this.sslContext = sslContext;
        bootstrap =
                bootstrap(eventLoop, channelType, allocator, receiveBuffers).option(ChannelOption.TCP_NODELAY, true);
        socketBootstrap = bootstrap(
                eventLoop,
                epoll ? EpollDomainSocketChannel.class : NioDomainSocketChannel.class,
                allocator,
                receiveBuffers);
    }

    private static Bootstrap bootstrap(
            EventLoop eventLoop,
            Class<? extends Channel> channelType,
            ByteBufAllocator allocator,
            @Nullable RecvByteBufAllocator receiveBuffers) {
        Bootstrap bootstrap = new Bootstrap()
                .group(eventLoop)
                .channel(channelType)
                .disableResolver()
                .option(ChannelOption.ALLOCATOR, allocator)
                // ConnectAttempt enforces the connect deadline, for all addresses and TLS together.
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0)
                // A failed write leaves the input open: an origin that refuses an upload has often sent its response
                // already.
                .option(ChannelOption.AUTO_CLOSE, false);
        if (receiveBuffers != null) {
            bootstrap.option(ChannelOption.RECVBUF_ALLOCATOR, receiveBuffers);
        }
        return bootstrap;
    }

    @Override
    public OriginCall fetch(OriginRequest request, OriginResponseHandler handler) {
        assert eventLoop.inEventLoop();
        statistics.requests++;
        OriginPool.Key key = OriginPool.Key.of(request, addresses.queriesSrvRecords());
        OriginPool pool = pools.get(key);
        if (pool == null) {
            pool = new OriginPool(this, key);
            pools.put(key, pool);
        }
        PooledCall call = new PooledCall(pool, request, handler);
        link(call);
        if (closed) {
            call.failed(OriginFailure.Reason.CANCELLED, request.origin() + ": the origin client is closed", true);
            pool.afterClose();
        } else {
            pool.acquire(call);
        }
        call.started();
        return call;
    }

    @Override
    public OriginStatistics statistics() {
        return statistics;
    }

    @Override
    public DnsStatistics dns() {
        return addresses.statistics();
    }

    @Override
    public void close() {
        assert eventLoop.inEventLoop();
        if (closed) {
            return;
        }
        closed = true;
        for (OriginPool pool : new ArrayList<>(pools.values())) {
            pool.close();
        }
        for (PooledCall call : openCalls()) {
            call.clientClosed();
        }
        addresses.close();
    }

    @Override
    public List<HostAddresses.Known> knownHosts() {
        return addresses.known();
    }

    @Override
    public void forgetHosts(@Nullable String host) {
        addresses.forget(host);
    }

    /** Called when a call has to wait for one of an origin's connections. */
    void onWaiting() {
        onWaiting.run();
    }

    /** Returns the buffers that HTTP/2 connections share, created with the first of them. */
    Http2ClientBuffers http2() {
        Http2ClientBuffers shared = http2;
        if (shared == null) {
            shared = new Http2ClientBuffers();
            http2 = shared;
        }
        return shared;
    }

    /** The connections of all event loops. */
    ConnectionTotals totals() {
        return totals;
    }

    boolean isClosed() {
        return closed;
    }

    EventLoop eventLoop() {
        return eventLoop;
    }

    Bootstrap bootstrap() {
        return bootstrap;
    }

    /** Returns the settings of connections to Unix domain sockets. */
    Bootstrap socketBootstrap() {
        return socketBootstrap;
    }

    /** Returns the address of a Unix domain socket. */
    SocketAddress socketAddress(String path) {
        return epoll ? new DomainSocketAddress(path) : UnixDomainSocketAddress.of(path);
    }

    /** Returns true if connections use epoll. */
    boolean isEpoll() {
        return epoll;
    }

    CountedWrites writes() {
        return writes;
    }

    OriginFaults faults() {
        return faults;
    }

    HostAddresses addresses() {
        return addresses;
    }

    /** Returns the TLS context for settings. */
    SslContext sslContext(OriginTlsConfig.Context config, OriginConfig.Http2 http2) throws SSLException {
        return sslContext.of(config, http2);
    }

    void forget(OriginPool.Key key, OriginPool pool) {
        pools.remove(key, pool);
    }

    void ended(PooledCall call) {
        PooledCall before = call.before;
        PooledCall after = call.after;
        if (before != null) {
            before.after = after;
        }
        if (after != null) {
            after.before = before;
        } else if (lastCall == call) {
            lastCall = before;
        }
        call.before = null;
        call.after = null;
    }

    private void link(PooledCall call) {
        PooledCall last = lastCall;
        call.before = last;
        if (last != null) {
            last.after = call;
        }
        lastCall = call;
    }

    /** Returns the calls that have not ended, in the order of their beginning. */
    private List<PooledCall> openCalls() {
        List<PooledCall> open = new ArrayList<>();
        for (PooledCall call = lastCall; call != null; call = call.before) {
            open.add(call);
        }
        Collections.reverse(open);
        return open;
    }

    /** Runs a task at the end of the event loop's iteration. */
    void atEndOfIteration(Runnable task) {
        atEndOfIteration.accept(task);
    }

    /** Formats a duration for messages. */
    static String millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos) + " ms";
    }
}
