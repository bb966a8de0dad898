package io.millrace.proxy.net;

import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/**
 * The kernel interface that event loops wait on.
 *
 * <p>Immutable.
 */
public enum Transport {
    /** Linux epoll through Netty's native library: SO_REUSEPORT groups, adopted descriptors. */
    EPOLL("epoll"),
    /** The JDK's selector: everywhere, but with one listening socket and no adopted descriptors. */
    NIO("nio");

    /** More than one write of a large body has mostly, so that a client that keeps up never notices. */
    private static final long UNSENT_BYTES_MAX = 256 * 1024;

    private final String text;

    Transport(String text) {
        this.text = text;
    }

    /**
     * The transport to use.
     *
     * @param wanted {@code auto}, {@code epoll} or {@code nio}
     * @throws IllegalArgumentException when epoll is demanded and this machine has none; the message says why
     */
    public static Transport choose(String wanted) {
        return switch (wanted) {
            case "nio" -> NIO;
            case "auto" -> Epoll.isAvailable() ? EPOLL : NIO;
            case "epoll" -> {
                if (!Epoll.isAvailable()) {
                    throw new IllegalArgumentException(
                            "worker.transport: epoll is not available here", Epoll.unavailabilityCause());
                }
                yield EPOLL;
            }
            default ->
                throw new IllegalArgumentException(
                        "worker.transport: unknown transport '" + wanted + "' (auto, epoll or nio)");
        };
    }

    /** A new handler for each event loop. */
    public IoHandlerFactory ioHandlerFactory() {
        return this == EPOLL ? PatchedEpollIoHandler.newFactory() : NioIoHandler.newFactory();
    }

    /** The channel class of connections to origins. */
    public Class<? extends SocketChannel> socketChannelClass() {
        return this == EPOLL ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    /** A new, unbound listening channel. */
    public ServerChannel newServerChannel() {
        return this == EPOLL ? new EpollServerSocketChannel() : new NioServerSocketChannel();
    }

    /**
     * A listening channel over a socket that another process bound; takes ownership of the descriptor.
     *
     * @throws UnsupportedOperationException with NIO, which cannot adopt one
     */
    public ServerChannel adoptServerChannel(int descriptor) {
        if (this != EPOLL) {
            throw new UnsupportedOperationException("transport nio cannot adopt listening sockets; it binds by itself");
        }
        return new EpollServerSocketChannel(descriptor);
    }

    /** Whether several sockets may be bound to one address, so that each event loop has its own. */
    public boolean hasReusePort() {
        return this == EPOLL;
    }

    /** Whether connections can be served without channels, by {@link PlainSocket}. */
    public boolean hasPlainSockets() {
        return this == EPOLL;
    }

    /**
     * Acknowledges what has been received, without waiting for bytes to send along. A client that leaves Nagle's algorithm on sends its
     * request only when the end of its TLS handshake is acknowledged, and the kernel would wait 40 ms for an answer to go with that. On the
     * channel's event loop; does nothing where the kernel cannot be told.
     */
    public static void acknowledge(Channel channel) {
        if (channel instanceof EpollSocketChannel epoll && epoll.isActive()) {
            epoll.config().setTcpQuickAck(true);
        }
    }

    /**
     * Limits what the kernel takes for a client beyond what it can send right now. Without, it takes up to 4 MiB for each client
     * that does not read, and this process sees of a slow client only now and then that it takes something. On the channel's
     * event loop; does nothing where the kernel cannot be told.
     */
    public static void limitUnsent(Channel channel) {
        if (channel instanceof EpollSocketChannel epoll && epoll.isActive()) {
            epoll.config().setTcpNotSentLowAt(UNSENT_BYTES_MAX);
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
