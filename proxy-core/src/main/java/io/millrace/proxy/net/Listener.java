package io.millrace.proxy.net;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.unix.UnixChannelOption;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The listening sockets of one address: one per event loop where the transport can share a port (SO_REUSEPORT), so that a
 * connection is served by the loop that accepted it; else one for all. Sockets that a launcher bound are adopted, never bound
 * again and never shut down: closing here closes this process's copy only.
 *
 * <p>Confined to the thread that starts and stops the proxy.
 */
public final class Listener {
    private static final int BACKLOG = 4096;

    /**
     * What serves the connections that one loop accepts.
     *
     * @param initializer sets up those that are channels
     * @param plain takes those that need none to begin with; null for none
     */
    public record Serving(
            ChannelInitializer<Channel> initializer,
            @Nullable PlainReceiver plain) {}

    private final String address;
    private final boolean secure;
    private final List<Channel> channels = new ArrayList<>();
    private final List<PlainAcceptor> acceptors = new ArrayList<>();

    private Listener(String address, boolean secure) {
        this.address = address;
        this.secure = secure;
    }

    /**
     * Binds an address on every loop.
     *
     * @param address as configured, for messages
     * @param serving what serves the connections of a given loop
     * @throws IOException when the address cannot be bound; the message names it
     */
    public static Listener bind(
            Transport transport,
            List<EventLoop> loops,
            String address,
            InetSocketAddress socketAddress,
            boolean secure,
            Function<EventLoop, Serving> serving)
            throws IOException {
        Listener listener = new Listener(address, secure);
        try {
            if (transport.hasReusePort()) {
                InetSocketAddress next = socketAddress;
                for (EventLoop loop : loops) {
                    Serving served = serving.apply(loop);
                    ServerBootstrap bootstrap = bootstrap(loop, loop, transport::newServerChannel, served);
                    if (loops.size() > 1) {
                        bootstrap.option(UnixChannelOption.SO_REUSEPORT, true);
                    }
                    Channel channel = await(bootstrap.bind(next), address);
                    listener.channels.add(channel);
                    listener.accept(channel, served);
                    next = (InetSocketAddress) channel.localAddress();
                }
            } else {
                EventLoop accepting = loops.get(0);
                ChannelInitializer<Channel> spread = new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(serving.apply(channel.eventLoop()).initializer());
                    }
                };
                EventLoopGroup children = accepting.parent();
                ServerBootstrap bootstrap = bootstrap(
                        accepting,
                        children == null ? accepting : children,
                        transport::newServerChannel,
                        new Serving(spread, null));
                listener.channels.add(await(bootstrap.bind(socketAddress), address));
            }
        } catch (IOException e) {
            listener.close();
            throw e;
        }
        return listener;
    }

    /**
     * Serves sockets that are bound and listening already; takes ownership of the descriptors. Every one of them gets a loop,
     * however many there are: an unattended socket of a SO_REUSEPORT group would leave its clients hanging.
     */
    public static Listener adopt(
            Transport transport,
            List<EventLoop> loops,
            String address,
            List<Integer> descriptors,
            boolean secure,
            Function<EventLoop, Serving> serving)
            throws IOException {
        Listener listener = new Listener(address, secure);
        try {
            for (int i = 0; i < descriptors.size(); i++) {
                int descriptor = descriptors.get(i);
                EventLoop loop = loops.get(i % loops.size());
                Serving served = serving.apply(loop);
                ServerBootstrap bootstrap =
                        bootstrap(loop, loop, () -> transport.adoptServerChannel(descriptor), served);
                Channel channel = await(bootstrap.register(), address);
                listener.channels.add(channel);
                listener.accept(channel, served);
            }
        } catch (IOException e) {
            listener.close();
            throw e;
        }
        return listener;
    }

    private static ServerBootstrap bootstrap(
            EventLoopGroup accepting,
            EventLoopGroup children,
            io.netty.channel.ChannelFactory<ServerChannel> factory,
            Serving serving) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(accepting, children)
                .channelFactory(factory)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(serving.initializer());
        return serving.plain() == null ? bootstrap : bootstrap.option(ChannelOption.AUTO_READ, false);
    }

    /** Lets the fast lane accept where there is one. */
    private void accept(Channel channel, Serving serving) throws IOException {
        PlainReceiver plain = serving.plain();
        if (plain != null && channel instanceof EpollServerSocketChannel epoll) {
            acceptors.add(PlainAcceptor.begin(epoll, plain, serving.initializer()));
        }
    }

    private static Channel await(ChannelFuture future, String address) throws IOException {
        future.awaitUninterruptibly();
        Throwable cause = future.cause();
        if (cause != null) {
            throw new IOException("listen: cannot bind " + address + ": " + cause.getMessage(), cause);
        }
        return future.channel();
    }

    /** The address as configured. */
    public String address() {
        return address;
    }

    /** Whether connections to it speak TLS. */
    public boolean secure() {
        return secure;
    }

    /** The address in fact, with the port that the kernel chose where 0 was asked for. */
    public InetSocketAddress localAddress() {
        return (InetSocketAddress) channels.get(0).localAddress();
    }

    /** Stops accepting. Connections go on; a launcher's copies of the sockets keep queueing clients. */
    public List<Future<?>> close() {
        acceptors.forEach(PlainAcceptor::end);
        acceptors.clear();
        List<Future<?>> closing = new ArrayList<>(channels.size());
        for (Channel channel : channels) {
            closing.add(channel.close());
        }
        return closing;
    }
}
