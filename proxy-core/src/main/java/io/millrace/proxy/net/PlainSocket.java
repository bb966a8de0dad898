package io.millrace.proxy.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.NotYetConnectedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's TCP connection without Netty channel, pipeline and buffer, polled by an event loop.
 *
 * <p><b>Ownership of the descriptor.</b> There is always one owner. A socket owns the descriptor until {@link #close}
 * closes it or {@link #toChannel} passes it to a channel. The channel owns it until the channel is closed, or until
 * {@link #of} passes it to a new socket after deregistration. A former owner never uses the descriptor again,
 * because the kernel may have given its number to another connection.
 *
 * <p>Confined to its event loop.
 */
public final class PlainSocket implements EpollIoHandle {
    /** Result of {@link #read} when the client has shut down its output, or the connection failed. */
    public static final int END = -1;

    /** Receives the events of a connection. */
    public interface Handler {
        /**
         * Called when bytes or the end of input can be read. The event is edge-triggered, so the handler must
         * read all bytes. If a read does not fill its buffer and {@code ended} is false, all bytes are read.
         *
         * @param ended whether the client's FIN, or an error, follows the readable bytes
         */
        void onReadable(boolean ended);
    }

    private static final Logger log = LoggerFactory.getLogger(PlainSocket.class);

    /**
     * The polled events. They are edge-triggered, because with level triggering the kernel would check each
     * connection once more after its read.
     */
    private static final EpollIoOps READING =
            EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLRDHUP).with(EpollIoOps.EPOLLET);

    /** The events that report the end of the input or an error. */
    private static final EpollIoOps ENDS = EpollIoOps.EPOLLRDHUP.with(EpollIoOps.EPOLLERR);

    private final EventLoop loop;
    private final Socket socket;
    private @Nullable Handler handler;
    private @Nullable IoRegistration registration;
    private boolean ownsDescriptor = true;

    PlainSocket(EventLoop loop, Socket socket) {
        this.loop = loop;
        this.socket = socket;
    }

    /**
     * Takes ownership of the descriptor of a channel that was deregistered and is not used again.
     *
     * @return null if the channel type has no descriptor
     */
    public static @Nullable PlainSocket of(Channel channel, EventLoop loop) {
        return channel instanceof EpollSocketChannel epoll && epoll.fd() instanceof Socket socket
                ? new PlainSocket(loop, socket)
                : null;
    }

    /**
     * Registers for read events.
     *
     * @throws IllegalStateException if the event loop does not accept the registration; the caller then closes
     * the socket
     */
    public void begin(Handler events) {
        handler = events;
        var registering = ((IoEventLoop) loop).register(this);
        // The registration is complete on return, because this code runs on the event loop.
        IoRegistration done = registering.isSuccess() ? registering.getNow() : null;
        if (done == null) {
            throw new IllegalStateException("not registered with its event loop", registering.cause());
        }
        registration = done;
        done.submit(READING);
    }

    /** Requests another read event, after the events of other connections. */
    public void readLater() {
        IoRegistration current = registration;
        if (current != null) {
            current.submit(READING);
        }
    }

    /** The local address; null when the connection is closed. */
    @Nullable
    InetSocketAddress localAddress() {
        return socket.localAddress();
    }

    /**
     * Reads available bytes into the buffer, from index 0 up to its capacity, by one system call. Borrows the buffer
     * and does not change its indices.
     *
     * @return number of bytes read, 0 if none are available, or {@link #END}
     */
    public int read(ByteBuf into) {
        try {
            if (into.hasMemoryAddress()) {
                return socket.recvAddress(into.memoryAddress(), 0, into.capacity());
            }
            ByteBuffer bytes = into.internalNioBuffer(0, into.capacity());
            return socket.recv(bytes, bytes.position(), bytes.limit());
        } catch (IOException | NotYetConnectedException e) {
            // Netty throws NotYetConnectedException if the connection was reset.
            log.debug("connection failed", e);
            return END;
        }
    }

    /**
     * Sends as many readable bytes of the buffer as the kernel accepts, by one system call. Moves the reader index past
     * them. Borrows the buffer.
     *
     * @return false when the connection failed
     */
    public boolean write(ByteBuf from) {
        int start = from.readerIndex();
        int sent;
        try {
            if (from.hasMemoryAddress()) {
                sent = socket.sendAddress(from.memoryAddress(), start, from.writerIndex());
            } else {
                ByteBuffer bytes = from.internalNioBuffer(start, from.readableBytes());
                sent = socket.send(bytes, bytes.position(), bytes.limit());
            }
        } catch (IOException | NotYetConnectedException e) {
            // Netty throws NotYetConnectedException if the connection was reset.
            log.debug("connection failed", e);
            return false;
        }
        from.readerIndex(start + Math.max(0, sent));
        return true;
    }

    /** Shuts down the output; false when the connection failed. */
    public boolean shutdownOutput() {
        try {
            socket.shutdown(false, true);
            return true;
        } catch (IOException | NotYetConnectedException e) {
            // Netty throws NotYetConnectedException if the connection was reset.
            log.debug("connection failed", e);
            return false;
        }
    }

    /**
     * Passes the connection to a new channel, which is not registered yet.
     *
     * @throws RuntimeException when no channel can be created; the connection is closed then
     */
    public SocketChannel toChannel() {
        leaveLoop();
        try {
            SocketChannel channel = new EpollSocketChannel(socket.intValue());
            ownsDescriptor = false;
            return channel;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private void leaveLoop() {
        IoRegistration current = registration;
        registration = null;
        if (current != null) {
            current.cancel();
        }
    }

    @Override
    public FileDescriptor fd() {
        return socket;
    }

    @Override
    public void handle(IoRegistration from, IoEvent event) {
        Handler current = handler;
        if (ownsDescriptor && current != null && event instanceof EpollIoEvent epoll) {
            current.onReadable((epoll.ops().value() & ENDS.value()) != 0);
        }
    }

    /** Closes the connection, if this socket still owns it. */
    @Override
    public void close() {
        if (!ownsDescriptor) {
            return;
        }
        ownsDescriptor = false;
        try {
            socket.close();
        } catch (IOException e) {
            log.debug("the file descriptor of a connection cannot be closed", e);
        }
        // Runs after the close: closing removes the descriptor from epoll, which saves a system call.
        leaveLoop();
    }
}
