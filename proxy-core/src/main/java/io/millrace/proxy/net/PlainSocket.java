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
 * A client's TCP connection on an event loop's epoll, with no channel, pipeline or buffer.
 *
 * <p><b>Who owns the descriptor.</b> Always one: the socket that was accepted, until {@link #close} closes it
 * or {@link #toChannel} gives it away; then that channel, until it is closed or, deregistered, gives it to the next socket by {@link #of}.
 * Who gave it away never touches it again, since the number may be another connection's by then.
 *
 * <p>Confined to its event loop.
 */
public final class PlainSocket implements EpollIoHandle {
    /** What {@link #read} says when the client will send no more, or the connection failed. */
    public static final int END = -1;

    /** What happens to a connection. */
    public interface Handler {
        /**
         * There is something to read, or an end; told once for what came, so everything has to be read. A read that does not fill its buffer
         * has read everything, unless the client's end is there too.
         *
         * @param ended whether the client's end, or an error, waits behind what there is to read
         */
        void onReadable(boolean ended);
    }

    private static final Logger log = LoggerFactory.getLogger(PlainSocket.class);

    /** By edges: told of a level, the kernel would look at each connection once more after it was read. */
    private static final EpollIoOps READING =
            EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLRDHUP).with(EpollIoOps.EPOLLET);

    private static final EpollIoOps ENDS = EpollIoOps.EPOLLRDHUP.with(EpollIoOps.EPOLLERR);

    private final EventLoop loop;
    private final Socket socket;
    private @Nullable Handler handler;
    private @Nullable IoRegistration registration;
    private boolean owner = true;

    PlainSocket(EventLoop loop, Socket socket) {
        this.loop = loop;
        this.socket = socket;
    }

    /**
     * Takes the descriptor of a channel that has left its event loop and that nobody uses again.
     *
     * @return null when the channel's kind has no descriptor
     */
    public static @Nullable PlainSocket of(Channel channel, EventLoop loop) {
        return channel instanceof EpollSocketChannel epoll && epoll.fd() instanceof Socket socket
                ? new PlainSocket(loop, socket)
                : null;
    }

    /**
     * Begins to be told of what there is to read.
     *
     * @throws IllegalStateException when the event loop does not take it; the caller closes it
     */
    public void begin(Handler events) {
        handler = events;
        var registering = ((IoEventLoop) loop).register(this);
        // On its own loop this is done when it returns.
        IoRegistration done = registering.isSuccess() ? registering.getNow() : null;
        if (done == null) {
            throw new IllegalStateException("not registered with its event loop", registering.cause());
        }
        registration = done;
        done.submit(READING);
    }

    /** Asks to be told once more of what there is to read, after the other connections. */
    public void readLater() {
        IoRegistration current = registration;
        if (current != null) {
            current.submit(READING);
        }
    }

    /** Our end; null when the connection is gone. */
    @Nullable
    InetSocketAddress localAddress() {
        return socket.localAddress();
    }

    /**
     * Reads what there is into the buffer, from its index 0 up to its capacity, by one system call; borrows it and leaves its indices alone.
     *
     * @return bytes read, 0 when there are none yet, {@link #END}
     */
    public int read(ByteBuf into) {
        try {
            if (into.hasMemoryAddress()) {
                return socket.recvAddress(into.memoryAddress(), 0, into.capacity());
            }
            ByteBuffer bytes = into.internalNioBuffer(0, into.capacity());
            return socket.recv(bytes, bytes.position(), bytes.limit());
        } catch (IOException | NotYetConnectedException e) {
            // A connection that was reset is none that was ever made, as Netty has it.
            log.debug("connection failed", e);
            return END;
        }
    }

    /**
     * Sends what the buffer has, as far as the kernel takes it by one system call, and moves its reader index; borrows it.
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
            // A connection that was reset is none that was ever made, as Netty has it.
            log.debug("connection failed", e);
            return false;
        }
        from.readerIndex(start + Math.max(0, sent));
        return true;
    }

    /** Says that nothing more will be sent; false when the connection failed. */
    public boolean shutdownOutput() {
        try {
            socket.shutdown(false, true);
            return true;
        } catch (IOException | NotYetConnectedException e) {
            // A connection that was reset is none that was ever made, as Netty has it.
            log.debug("connection failed", e);
            return false;
        }
    }

    /**
     * Gives the connection to a channel, which is not registered yet.
     *
     * @throws RuntimeException when there can be no channel; the connection is closed then
     */
    public SocketChannel toChannel() {
        leaveLoop();
        try {
            SocketChannel channel = new EpollSocketChannel(socket.intValue());
            owner = false;
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
        if (owner && current != null && event instanceof EpollIoEvent epoll) {
            current.onReadable((epoll.ops().value() & ENDS.value()) != 0);
        }
    }

    /** Closes the connection, if this socket still owns it. */
    @Override
    public void close() {
        if (!owner) {
            return;
        }
        owner = false;
        try {
            socket.close();
        } catch (IOException e) {
            log.debug("a connection's descriptor did not close", e);
        }
        // Afterwards: what is closed has left epoll, and needs no system call for that.
        leaveLoop();
    }
}
