package io.millrace.proxy.net;

import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/**
 * The kernel interface by which event loops poll sockets.
 *
 * <p>Immutable.
 */
public enum Transport {
    /**
     * Linux epoll through Netty's native library. Supports SO_REUSEPORT groups, and sockets that another process bound.
     */
    EPOLL("epoll"),
    /** The JDK's selector: portable, but with one listening socket, and not for sockets that another process bound. */
    NIO("nio");

    /**
     * Limit of {@link #limitUnsent} in bytes. The limit exceeds a typical write of a large body, so that fast
     * clients are not slowed down.
     */
    private static final long UNSENT_BYTES_MAX = 256 * 1024;

    private final String text;

    Transport(String text) {
        this.text = text;
    }

    /**
     * Selects the transport.
     *
     * @param configured {@code auto}, {@code epoll} or {@code nio}
     * @throws IllegalArgumentException if epoll is configured but not available; the cause contains the reason
     */
    public static Transport choose(String configured) {
        return switch (configured) {
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
                        "worker.transport: unknown transport '" + configured + "' (auto, epoll or nio)");
        };
    }

    /** Returns a factory of I/O handlers for event loops. */
    public IoHandlerFactory ioHandlerFactory() {
        return this == EPOLL ? PatchedEpollIoHandler.newFactory() : NioIoHandler.newFactory();
    }

    /** The channel class of connections to origins. */
    public Class<? extends SocketChannel> socketChannelClass() {
        return this == EPOLL ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    /** Returns a new, unbound listening channel. */
    public ServerChannel newServerChannel() {
        return this == EPOLL ? new EpollServerSocketChannel() : new NioServerSocketChannel();
    }

    /**
     * Returns a listening channel for a socket that another process bound. Takes ownership of the descriptor.
     *
     * @param unix whether the socket is a Unix socket
     * @throws UnsupportedOperationException with NIO, which cannot adopt descriptors
     */
    public ServerChannel adoptServerChannel(int descriptor, boolean unix) {
        if (this != EPOLL) {
            throw new UnsupportedOperationException(
                    "worker.transport: nio cannot take over listening sockets of another process; use epoll");
        }
        return unix ? new EpollServerDomainSocketChannel(descriptor, true) : new EpollServerSocketChannel(descriptor);
    }

    /** Returns true if several sockets can be bound to one address, one for each event loop. */
    public boolean hasReusePort() {
        return this == EPOLL;
    }

    /** Returns true if connections can be served without channels, by {@link PlainSocket}. */
    public boolean hasPlainSockets() {
        return this == EPOLL;
    }

    /**
     * Makes the kernel send the TCP acknowledgement of received bytes immediately. A client with Nagle's
     * algorithm sends its request only after its last handshake message is acknowledged. Without this call, the
     * kernel would delay the acknowledgement by 40 ms, to send it together with data. Call on the channel's event
     * loop; no effect on transports without this option.
     */
    public static void acknowledge(Channel channel) {
        if (channel instanceof EpollSocketChannel epoll && epoll.isActive()) {
            epoll.config().setTcpQuickAck(true);
        }
    }

    /**
     * Limits the bytes that the kernel accepts beyond those it can send immediately. Without this limit, the kernel
     * accepts up to 4 MiB for each client that does not read. This process would then rarely notice the progress of a
     * slow client. Call on the channel's event loop; no effect on transports without this option.
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
