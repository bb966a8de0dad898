package io.millrace.proxy.net;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.channels.NotYetConnectedException;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;

/**
 * Ends the connections of channels: after all writes, by a FIN, or by a TCP reset.
 *
 * <p>Thread-safe: no state.
 */
public final class ConnectionEnd {
    // TCP states of Linux (tcp_states.h). FIN_WAIT1: our FIN is not acknowledged. CLOSING: the same, after the
    // peer's FIN.
    private static final int TCP_FIN_WAIT1 = 4;
    private static final int TCP_CLOSE = 7;
    private static final int TCP_CLOSING = 11;

    private ConnectionEnd() {}

    /**
     * Shuts down the output after all written bytes: first sends the TLS close_notify, then FIN. Closes the channel if
     * a write fails.
     */
    public static void shutAfterWrites(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
            SslHandler tls = ctx.pipeline().get(SslHandler.class);
            if (!written.isSuccess()) {
                channel.close();
            } else if (tls == null) {
                shutdownOutput(channel);
            } else {
                tls.closeOutbound().addListener(notified -> shutdownOutput(channel));
            }
        });
    }

    /** Closes the channel after all written bytes were sent. Call it if the client has already shut down its output. */
    public static void closeAfterWrites(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> channel.close());
    }

    /**
     * Returns true if a client that had shut down its output has reset the connection. Netty reports no reset
     * after the end of the input, so this method queries the kernel. Always false with NIO, where only the next
     * write fails.
     */
    public static boolean isReset(Channel channel) {
        try {
            return channel instanceof EpollSocketChannel epoll
                    && epoll.tcpInfo().state() == TCP_CLOSE;
        } catch (ChannelException e) {
            return true;
        }
    }

    /**
     * Returns true if the client has acknowledged our FIN, and therefore all bytes before it. Always true with
     * NIO, which cannot query the kernel.
     */
    public static boolean isAcknowledged(Channel channel) {
        try {
            int state = channel instanceof EpollSocketChannel epoll && epoll.isOpen()
                    ? epoll.tcpInfo().state()
                    : TCP_CLOSE;
            return state != TCP_FIN_WAIT1 && state != TCP_CLOSING;
        } catch (ChannelException e) {
            return true;
        }
    }

    private static void shutdownOutput(Channel channel) {
        if (channel instanceof DuplexChannel socket && socket.isActive()) {
            socket.shutdownOutput();
        } else {
            channel.close();
        }
    }

    /**
     * Logs the failure of a connection. Uses debug level if the network or the client caused it, and warns of an
     * internal error.
     */
    public static void logFault(Logger log, Channel channel, Throwable cause) {
        // If a connection was reset before it was accepted, Netty throws NotYetConnectedException.
        if (cause instanceof IOException
                || cause instanceof NotYetConnectedException
                || cause.getCause() instanceof SSLException) {
            log.debug("{}: connection failed", channel, cause);
        } else if (cause instanceof OutOfMemoryError) {
            // The failed allocation was already counted and logged.
            log.debug("{}: connection closed, because no memory is available", channel);
        } else {
            log.warn("{}: connection closed after an internal error", channel, cause);
        }
    }

    /** Closes the channel with a TCP reset and without the TLS close_notify. */
    public static void reset(ChannelHandlerContext ctx) {
        if (ctx.channel().isActive()) {
            ctx.channel().config().setOption(ChannelOption.SO_LINGER, 0);
        }
        ctx.pipeline().firstContext().close();
    }
}
