package io.millrace.proxy.net;

import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.NativeInetAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections of a listening socket as {@link PlainSocket}, without a Netty channel for each. A listening
 * channel has bound the socket, or taken it over from another process. The channel owns the descriptor and closes it.
 * That channel is deregistered from the event loop, which polls the descriptor through this handle instead.
 *
 * <p>Confined to its event loop, which also serves the connections.
 */
final class PlainAcceptor implements EpollIoHandle {
    /** Limit of connections accepted per event, for fairness. */
    private static final int ACCEPTS_MAX = 16;
    /** Pause after a failure in ms. If descriptors or memory are exhausted, an immediate retry would fail too. */
    private static final long PAUSE_MILLIS = 1000;
    /**
     * Size in bytes of the buffer for a peer address. It contains a length byte, and the longest address with port and
     * scope.
     */
    private static final int ADDRESS_LENGTH = 26;

    private static final Logger log = LoggerFactory.getLogger(PlainAcceptor.class);

    private final EventLoop loop;
    private final Socket listening;
    /** The local address of every accepted connection; null if it may differ between connections. */
    private final @Nullable InetSocketAddress bound;

    private final PlainReceiver receiver;
    private final ChannelInitializer<Channel> initializer;
    private final Transparency transparency;
    private final byte[] address = new byte[ADDRESS_LENGTH];

    private @Nullable IoRegistration registration;

    private PlainAcceptor(
            EpollServerSocketChannel channel,
            PlainReceiver receiver,
            ChannelInitializer<Channel> initializer,
            Transparency transparency) {
        this.loop = channel.eventLoop();
        this.listening = (Socket) channel.fd();
        InetSocketAddress local = channel.localAddress();
        boolean isAny = local.getAddress() == null || local.getAddress().isAnyLocalAddress();
        // The local address of a diverted connection is its destination.
        this.bound = isAny || transparency.acceptsDiverted() ? null : local;
        this.transparency = transparency;
        this.receiver = receiver;
        this.initializer = initializer;
    }

    /**
     * Begins to accept. Call outside the event loop.
     *
     * @param channel listening, but not reading; it is deregistered from its event loop
     * @throws IOException if the descriptor cannot be registered with the event loop
     */
    static PlainAcceptor begin(
            EpollServerSocketChannel channel,
            PlainReceiver receiver,
            ChannelInitializer<Channel> initializer,
            Transparency transparency)
            throws IOException {
        PlainAcceptor acceptor = new PlainAcceptor(channel, receiver, initializer, transparency);
        // On Linux, accepted sockets inherit this option.
        acceptor.listening.setTcpNoDelay(true);
        channel.deregister().awaitUninterruptibly();
        var begun = ((IoEventLoop) acceptor.loop).register(acceptor).awaitUninterruptibly();
        if (!begun.isSuccess()) {
            throw new IOException("listen: cannot poll " + channel.localAddress(), begun.cause());
        }
        IoRegistration registered = begun.getNow();
        acceptor.loop
                .submit(() -> {
                    acceptor.registration = registered;
                    registered.submit(EpollIoOps.EPOLLIN);
                })
                .awaitUninterruptibly();
        return acceptor;
    }

    /** Stops accepting. Call outside the event loop, and close the channel afterwards. */
    void end() {
        loop.submit(this::close).awaitUninterruptibly();
    }

    @Override
    public FileDescriptor fd() {
        return listening;
    }

    @Override
    public void handle(IoRegistration from, IoEvent event) {
        try {
            for (int i = 0; i < ACCEPTS_MAX && registration != null; i++) {
                int descriptor = listening.accept(address);
                if (descriptor < 0) {
                    return;
                }
                accepted(descriptor);
            }
        } catch (IOException | RuntimeException e) {
            log.warn(
                    "{}: accepting connections failed; retrying in {} ms",
                    bound == null ? listening : bound,
                    PAUSE_MILLIS,
                    e);
            pause();
        }
    }

    private void pause() {
        IoRegistration current = registration;
        if (current != null) {
            current.submit(EpollIoOps.NONE);
            loop.schedule(
                    () -> {
                        if (registration != null) {
                            registration.submit(EpollIoOps.EPOLLIN);
                        }
                    },
                    PAUSE_MILLIS,
                    TimeUnit.MILLISECONDS);
        }
    }

    private void accepted(int descriptor) {
        PlainSocket socket = new PlainSocket(loop, new Socket(descriptor));
        if (!receiver.takesConnections()) {
            Channel channel = socket.toChannel();
            channel.pipeline().addLast(initializer);
            loop.register(channel).addListener(registered -> {
                if (!registered.isSuccess()) {
                    channel.unsafe().closeForcibly();
                } else if (!channel.isActive()) {
                    // The client reset the connection before it was accepted, so the channel would never receive an
                    // event.
                    channel.close();
                }
            });
            return;
        }
        InetSocketAddress local = bound == null ? socket.localAddress() : bound;
        if (local == null) {
            // The client has disconnected already.
            socket.close();
            return;
        }
        InetSocketAddress remote = NativeInetAddress.address(address, 1, address[0]);
        receiver.onAccepted(socket, new ClientConnection(remote, local, false).transparency(transparency));
    }

    @Override
    public void close() {
        IoRegistration current = registration;
        registration = null;
        if (current != null) {
            current.cancel();
        }
    }
}
