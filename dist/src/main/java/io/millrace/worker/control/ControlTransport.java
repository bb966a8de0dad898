package io.millrace.worker.control;

import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;

/**
 * The Netty transport of the control socket: epoll, or NIO if epoll is not available. Only epoll can transfer
 * descriptors and report the process id of the peer.
 */
public enum ControlTransport {
    EPOLL,
    NIO;

    /** Returns the transport that is available on this machine. */
    public static ControlTransport available() {
        return Epoll.isAvailable() ? EPOLL : NIO;
    }

    /**
     * Creates a group of one event loop, whose daemon thread has the name {@code name}. The caller shuts the group
     * down.
     */
    public MultiThreadIoEventLoopGroup newEventLoopGroup(String name) {
        IoHandlerFactory factory = this == EPOLL ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        return new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory(name, true), factory);
    }

    public Class<? extends Channel> channelType() {
        return this == EPOLL ? EpollDomainSocketChannel.class : NioDomainSocketChannel.class;
    }

    public Class<? extends ServerChannel> serverChannelType() {
        return this == EPOLL ? EpollServerDomainSocketChannel.class : NioServerDomainSocketChannel.class;
    }

    public SocketAddress address(Path socket) {
        return this == EPOLL ? new DomainSocketAddress(socket.toFile()) : UnixDomainSocketAddress.of(socket);
    }

    /** Returns the process id of the peer of a channel, as the kernel reports it (SO_PEERCRED). Returns -1 with NIO. */
    public static long peerPid(Channel channel) throws IOException {
        return channel instanceof EpollDomainSocketChannel domain
                ? domain.peerCredentials().pid()
                : -1;
    }
}
