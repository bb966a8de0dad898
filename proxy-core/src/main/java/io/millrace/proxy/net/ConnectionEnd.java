package io.millrace.proxy.net;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.channels.NotYetConnectedException;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;

/**
 * Closes the connections of channels.
 *
 * <p>Thread-safe: no state.
 */
public final class ConnectionEnd {
    // States of a TCP connection in Linux's tcp_states.h: FIN sent and not acknowledged, closed, and closing on both
    // sides.
    private static final int TCP_FIN_WAIT1 = 4;
    private static final int TCP_CLOSE = 7;
    private static final int TCP_CLOSING = 11;

    private ConnectionEnd() {}

    /** Shuts down the output when all written bytes were sent, first that of TLS. Closes the channel if that fails. */
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

    /** Closes the channel when all written bytes were sent. For a connection whose client has shut down its output. */
    public static void closeAfterWrites(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> channel.close());
    }

    /**
     * Returns true if a client that has shut down its output has reset the connection since. Netty does not report that
     * after the end of the input, so this method queries the kernel. False where the transport cannot tell; then the
     * next write fails.
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
     * Returns true if the client has acknowledged our FIN, and thus all bytes before it. True where the transport
     * cannot tell.
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
        if (channel instanceof SocketChannel socket && socket.isActive()) {
            socket.shutdownOutput();
        } else {
            channel.close();
        }
    }

    /**
     * Logs the failure of a connection: at debug level when the network or the client caused it, as a warning for an
     * internal error.
     */
    public static void logFault(Logger log, Channel channel, Throwable cause) {
        // Netty reports a connection that was reset before it was accepted as never connected.
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

    /** Closes the channel by a reset, without the TLS close. */
    public static void reset(ChannelHandlerContext ctx) {
        if (ctx.channel().isActive()) {
            ctx.channel().config().setOption(ChannelOption.SO_LINGER, 0);
        }
        ctx.pipeline().firstContext().close();
    }
}
