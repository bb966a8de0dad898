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
 * How a channel's connection ends.
 *
 * <p>Immutable: no state.
 */
public final class ConnectionEnd {
    /** The state of a connection that is over, in Linux's tcp_states.h. */
    private static final int TCP_CLOSE = 7;

    private ConnectionEnd() {}

    /** Shuts our side when what was written has left, TLS's side first; closes where that cannot be. */
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

    /** Closes when what was written has left; for a connection on which the client will send nothing more. */
    public static void closeAfterWrites(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> channel.close());
    }

    /**
     * Whether a half-closed client has reset the connection since. Netty does not tell of that once it has read a channel's end, so this
     * asks the kernel. False where the transport cannot say; then the next write fails.
     */
    public static boolean isReset(Channel channel) {
        try {
            return channel instanceof EpollSocketChannel epoll
                    && epoll.tcpInfo().state() == TCP_CLOSE;
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

    /** Logs why a connection failed: at debug where the network or the client ended it, with a warning where the fault is ours. */
    public static void logFault(Logger log, Channel channel, Throwable cause) {
        // To Netty a connection that was reset before it was accepted is one that was never made.
        if (cause instanceof IOException
                || cause instanceof NotYetConnectedException
                || cause.getCause() instanceof SSLException) {
            log.debug("{}: connection failed", channel, cause);
        } else if (cause instanceof OutOfMemoryError) {
            // Counted and logged where the allocation failed.
            log.debug("{}: connection closed for want of memory", channel);
        } else {
            log.warn("{}: connection closed after a fault", channel, cause);
        }
    }

    /** Closes by a reset, past TLS's close. */
    public static void reset(ChannelHandlerContext ctx) {
        if (ctx.channel().isActive()) {
            ctx.channel().config().setOption(ChannelOption.SO_LINGER, 0);
        }
        ctx.pipeline().firstContext().close();
    }
}
