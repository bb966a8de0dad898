package io.millrace.launcher.supervise;

import io.millrace.launcher.state.StateDirectory;
import io.millrace.worker.control.ControlCodec;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.ControlTransport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.unix.DomainSocketReadMode;
import io.netty.channel.unix.FileDescriptor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server of the control socket and of the descriptor socket, to which workers connect. It identifies a process by
 * the id that the kernel reports, and accepts only processes that the supervisor has started or adopted.
 *
 * <p>Not thread-safe; confined to the event loop of the supervisor.
 */
public final class ControlServer {
    private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);

    /** The callbacks of the supervisor. Called on the event loop. */
    interface Peers {
        /**
         * Returns true if a process may use the control socket.
         *
         * @param pid process id; -1 if the transport does not report process ids
         */
        boolean isExpected(long pid);

        void connected(long pid, Channel channel);

        void received(long pid, ControlMessage message);

        void disconnected(long pid);

        /**
         * Returns the descriptors to send to a process. The supervisor still owns them. Returns null if the process
         * itself sends descriptors.
         */
        @Nullable
        List<FileDescriptor> descriptorsFor(long pid);

        /** Handles the descriptors that a process has sent, and takes ownership of them. */
        void receivedDescriptors(long pid, List<FileDescriptor> descriptors);
    }

    private final EventLoop loop;
    private final ControlTransport transport;
    private final ControlPaths paths;
    private final Peers peers;
    private final Map<Path, Channel> listening = new HashMap<>();

    /** Creates a server. {@link #open} starts it. */
    public ControlServer(EventLoop loop, ControlTransport transport, ControlPaths paths, Peers peers) {
        this.loop = loop;
        this.transport = transport;
        this.paths = paths;
        this.peers = peers;
    }

    /**
     * Binds the sockets, and deletes existing socket files. The caller holds the lock of the state directory, so these
     * files belong to a dead launcher.
     */
    public void open() throws IOException {
        bind(paths.control());
        if (transport == ControlTransport.EPOLL) {
            bind(paths.descriptors());
        }
    }

    private void bind(Path socket) throws IOException {
        Files.deleteIfExists(socket);
        ChannelFuture bound = bootstrap(socket).bind(transport.address(socket)).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(socket + ": " + bound.cause().getMessage(), bound.cause());
        }
        listening.put(socket, bound.channel());
        StateDirectory.restrict(socket);
    }

    private ServerBootstrap bootstrap(Path socket) {
        ServerBootstrap bootstrap = new ServerBootstrap().group(loop).channel(transport.serverChannelType());
        if (socket.equals(paths.descriptors())) {
            return bootstrap
                    .childOption(EpollChannelOption.DOMAIN_SOCKET_READ_MODE, DomainSocketReadMode.FILE_DESCRIPTORS)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new DescriptorConnection());
                        }
                    });
        }
        return bootstrap.childHandler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                ControlCodec.addTo(channel.pipeline());
                channel.pipeline().addLast(new ControlConnection());
            }
        });
    }

    /**
     * Binds a socket again if its file was deleted, so that later workers can connect. To be called on the event loop.
     *
     * @return whether a file was missing
     */
    boolean restore() {
        boolean restored = false;
        for (Map.Entry<Path, Channel> entry : listening.entrySet()) {
            Path socket = entry.getKey();
            Channel before = entry.getValue();
            if (Files.exists(socket)) {
                continue;
            }
            restored = true;
            // Closing a channel deletes the file at its path, so the new channel must be bound after that.
            before.close().addListener(closed -> {
                ChannelFuture bound = bootstrap(socket).bind(transport.address(socket));
                // After a failure the file is still missing, so the next call of this method tries again.
                entry.setValue(bound.channel());
                bound.addListener(result -> {
                    if (!result.isSuccess()) {
                        LOG.error(
                                "the socket {} cannot be bound: {}",
                                socket,
                                result.cause().getMessage());
                        return;
                    }
                    try {
                        StateDirectory.restrict(socket);
                    } catch (IOException e) {
                        LOG.error("the permissions of the socket {} cannot be set: {}", socket, e.getMessage());
                    }
                });
            });
        }
        return restored;
    }

    /** Stops listening and deletes the socket files. */
    public void close() throws IOException {
        for (Channel channel : listening.values()) {
            channel.close();
        }
        Files.deleteIfExists(paths.control());
        Files.deleteIfExists(paths.descriptors());
    }

    /** Returns the process id of the peer. Closes the channel if that process is not expected. */
    private long admit(ChannelHandlerContext context) throws IOException {
        long pid = ControlTransport.peerPid(context.channel());
        if (!peers.isExpected(pid)) {
            LOG.warn(
                    "a connection of process {} to the control socket was refused, because the process is not a worker of this launcher",
                    pid);
            context.close();
        }
        return pid;
    }

    private final class ControlConnection extends SimpleChannelInboundHandler<ControlMessage> {
        private long pid;
        private boolean admitted;

        @Override
        public void channelActive(ChannelHandlerContext context) throws IOException {
            pid = admit(context);
            admitted = context.channel().isOpen();
            if (admitted) {
                peers.connected(pid, context.channel());
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ControlMessage message) {
            if (admitted) {
                peers.received(pid, message);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (admitted) {
                peers.disconnected(pid);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            LOG.warn("the control connection of worker {} failed: {}", pid, cause.toString());
            context.close();
        }
    }

    private final class DescriptorConnection extends SimpleChannelInboundHandler<FileDescriptor> {
        private final List<FileDescriptor> descriptors = new ArrayList<>();
        private long pid;
        private boolean receiving;

        @Override
        public void channelActive(ChannelHandlerContext context) throws IOException {
            pid = admit(context);
            if (!context.channel().isOpen()) {
                return;
            }
            @Nullable List<FileDescriptor> sockets = peers.descriptorsFor(pid);
            if (sockets == null) {
                receiving = true;
                return;
            }
            ChannelFuture last = context.newSucceededFuture();
            for (FileDescriptor socket : sockets) {
                // A new object for the same descriptor number is sent, because the original object must stay usable.
                last = context.write(new FileDescriptor(socket.intValue()));
            }
            context.flush();
            last.addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FileDescriptor descriptor) throws IOException {
            if (receiving) {
                descriptors.add(descriptor);
            } else {
                descriptor.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (receiving) {
                peers.receivedDescriptors(pid, List.copyOf(descriptors));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            LOG.warn("the descriptor connection of worker {} failed: {}", pid, cause.toString());
            context.close();
        }
    }
}
