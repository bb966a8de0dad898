package io.millrace.proxy.net;

import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.millrace.proxy.config.value.ListenAddress;
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
 * The listening sockets of one address. With SO_REUSEPORT there is one socket per event loop, and the loop that accepts
 * a connection also serves it. Otherwise one socket serves all loops. This process takes over sockets that the launcher
 * (its parent process) has bound. Closing such a socket closes only the descriptor of this process.
 *
 * <p>Confined to the thread that starts and stops the proxy.
 */
public final class Listener {
    private static final int BACKLOG = 4096;

    /**
     * The handlers for new connections of one event loop.
     *
     * @param initializer sets up the pipeline of connections with a channel
     * @param plain receives connections that start without a channel; null for none
     * @param transparency whether the address serves a transparent proxy
     */
    public record Serving(
            ChannelInitializer<Channel> initializer,
            @Nullable PlainReceiver plain,
            Transparency transparency) {}

    private final String address;
    private final boolean secure;
    private final List<Channel> channels = new ArrayList<>();
    private final List<PlainAcceptor> acceptors = new ArrayList<>();
    /** The file of a Unix socket that this process has bound; null for other sockets. */
    private UnixAddress.@Nullable File file;

    private Listener(String address, boolean secure) {
        this.address = address;
        this.secure = secure;
    }

    /**
     * Binds an address: with SO_REUSEPORT on every loop, else on the first loop, whose connections all loops serve.
     *
     * @param address as configured, for messages
     * @param serving returns the handlers for a given loop
     * @throws IOException if the address cannot be bound; the message contains the address
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
                    ServerBootstrap bootstrap = bootstrap(loop, loop, transport::newServerChannel, served, false);
                    if (loops.size() > 1) {
                        bootstrap.option(UnixChannelOption.SO_REUSEPORT, true);
                    }
                    Channel channel = await(bootstrap.bind(next), address);
                    listener.channels.add(channel);
                    setTransparent(channel, address, served.transparency());
                    listener.accept(channel, served);
                    // If port 0 is configured, all loops bind the port that the kernel chose for the first one.
                    next = (InetSocketAddress) channel.localAddress();
                }
            } else {
                ServerBootstrap bootstrap = spread(loops, transport::newServerChannel, false, serving);
                Channel channel = await(bootstrap.bind(socketAddress), address);
                listener.channels.add(channel);
                setTransparent(channel, address, serving.apply(loops.get(0)).transparency());
            }
        } catch (IOException e) {
            listener.close();
            throw e;
        }
        return listener;
    }

    /**
     * Binds a Unix socket. Its first event loop accepts, and all loops serve.
     *
     * @param socket deleted by {@link #close}
     * @throws IOException if the socket cannot be bound; the message contains the path
     */
    public static Listener bindUnix(
            Transport transport,
            List<EventLoop> loops,
            UnixAddress socket,
            boolean secure,
            Function<EventLoop, Serving> serving)
            throws IOException {
        Listener listener = new Listener(socket.toString(), secure);
        try {
            int descriptor = socket.bind(BACKLOG).intValue();
            listener.file = socket.file();
            ServerBootstrap bootstrap =
                    spread(loops, () -> transport.adoptServerChannel(descriptor, true), true, serving);
            listener.channels.add(await(bootstrap.register(), listener.address));
            return listener;
        } catch (IOException e) {
            listener.close();
            throw e;
        }
    }

    /** Returns the bootstrap of a listening channel on the first loop. All loops serve its connections. */
    private static ServerBootstrap spread(
            List<EventLoop> loops,
            io.netty.channel.ChannelFactory<ServerChannel> factory,
            boolean isUnix,
            Function<EventLoop, Serving> serving) {
        EventLoop accepting = loops.get(0);
        ChannelInitializer<Channel> spread = new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(serving.apply(channel.eventLoop()).initializer());
            }
        };
        EventLoopGroup children = accepting.parent();
        return bootstrap(
                accepting,
                children == null ? accepting : children,
                factory,
                new Serving(spread, null, Transparency.OFF),
                isUnix);
    }

    /**
     * Serves sockets that are already bound and listening. Takes ownership of the descriptors. Assigns every
     * socket to a loop, even if there are more sockets than loops: the kernel queues clients on each socket of a
     * SO_REUSEPORT group, and clients of an unserved socket would hang.
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
        boolean isUnix = listener.isUnix();
        try {
            for (int i = 0; i < descriptors.size(); i++) {
                int descriptor = descriptors.get(i);
                EventLoop loop = loops.get(i % loops.size());
                Serving served = serving.apply(loop);
                ServerBootstrap bootstrap = bootstrap(
                        loop,
                        loop,
                        () -> transport.adoptServerChannel(descriptor, isUnix),
                        isUnix ? new Serving(served.initializer(), null, Transparency.OFF) : served,
                        isUnix);
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
            Serving serving,
            boolean isUnix) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(accepting, children)
                .channelFactory(factory)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childHandler(serving.initializer());
        if (!isUnix) {
            bootstrap.option(ChannelOption.SO_REUSEADDR, true).childOption(ChannelOption.TCP_NODELAY, true);
        }
        return serving.plain() == null ? bootstrap : bootstrap.option(ChannelOption.AUTO_READ, false);
    }

    /** Sets the socket option IP_TRANSPARENT on a socket that this process has bound, if the mode needs it. */
    private static void setTransparent(Channel channel, String address, Transparency mode) throws IOException {
        if (mode == Transparency.OFF) {
            return;
        }
        if (!(channel instanceof EpollServerSocketChannel epoll)) {
            throw new IOException("listen: " + address + ": listen[].transparent needs epoll");
        }
        TransparentSockets.apply(address, mode, List.of(epoll.fd()));
    }

    /** Starts accepting connections without channels, if the loop serves such connections. */
    private void accept(Channel channel, Serving serving) throws IOException {
        PlainReceiver plain = serving.plain();
        if (plain != null && channel instanceof EpollServerSocketChannel epoll) {
            acceptors.add(PlainAcceptor.begin(epoll, plain, serving.initializer(), serving.transparency()));
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

    /** Returns true if connections to this address use TLS. */
    public boolean secure() {
        return secure;
    }

    /** Returns true for a Unix socket. */
    public boolean isUnix() {
        return address.startsWith(ListenAddress.UNIX);
    }

    /**
     * The bound address, with the port that the kernel chose if 0 was configured; {@link ClientConnection#UNIX} for a
     * Unix socket.
     */
    public InetSocketAddress localAddress() {
        if (isUnix()) {
            return ClientConnection.UNIX;
        }
        return (InetSocketAddress) channels.get(0).localAddress();
    }

    /**
     * Stops accepting. Existing connections continue. If the launcher process also has the sockets open, new
     * clients wait in their queues.
     */
    public List<Future<?>> close() {
        acceptors.forEach(PlainAcceptor::end);
        acceptors.clear();
        List<Future<?>> closing = new ArrayList<>(channels.size());
        for (Channel channel : channels) {
            closing.add(channel.close());
        }
        UnixAddress.File bound = file;
        file = null;
        if (bound != null) {
            bound.delete();
        }
        return closing;
    }
}
