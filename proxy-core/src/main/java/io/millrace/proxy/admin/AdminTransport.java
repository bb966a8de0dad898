package io.millrace.proxy.admin;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;

/** The socket transport of the admin API. NIO is used if epoll is not available. */
enum AdminTransport {
    EPOLL {
        @Override
        IoHandlerFactory ioHandlers() {
            return EpollIoHandler.newFactory();
        }

        @Override
        ChannelFactory<ServerChannel> unixServer() {
            return EpollServerDomainSocketChannel::new;
        }

        @Override
        ChannelFactory<ServerChannel> tcpServer() {
            return EpollServerSocketChannel::new;
        }

        @Override
        ChannelFactory<Channel> unixClient() {
            return EpollDomainSocketChannel::new;
        }

        @Override
        SocketAddress address(Path socket) {
            return new DomainSocketAddress(socket.toString());
        }

        @Override
        long peerUid(Channel channel) {
            try {
                return channel instanceof EpollDomainSocketChannel unix
                        ? unix.peerCredentials().uid()
                        : -1;
            } catch (IOException e) {
                return -1;
            }
        }
    },
    NIO {
        @Override
        IoHandlerFactory ioHandlers() {
            return NioIoHandler.newFactory();
        }

        @Override
        ChannelFactory<ServerChannel> unixServer() {
            return NioServerDomainSocketChannel::new;
        }

        @Override
        ChannelFactory<ServerChannel> tcpServer() {
            return NioServerSocketChannel::new;
        }

        @Override
        ChannelFactory<Channel> unixClient() {
            return NioDomainSocketChannel::new;
        }

        @Override
        SocketAddress address(Path socket) {
            return UnixDomainSocketAddress.of(socket);
        }

        @Override
        long peerUid(Channel channel) {
            return -1;
        }
    };

    static AdminTransport best() {
        return Epoll.isAvailable() ? EPOLL : NIO;
    }

    abstract IoHandlerFactory ioHandlers();

    abstract ChannelFactory<ServerChannel> unixServer();

    abstract ChannelFactory<ServerChannel> tcpServer();

    abstract ChannelFactory<Channel> unixClient();

    abstract SocketAddress address(Path socket);

    /** Returns the user of the process at the other end of a Unix domain socket. Returns -1 when not known. */
    abstract long peerUid(Channel channel);
}
