package io.millrace.proxy.net;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslHandler;

/**
 * How a channel's connection ends.
 *
 * <p>Immutable: no state.
 */
public final class ConnectionEnd {
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

    private static void shutdownOutput(Channel channel) {
        if (channel instanceof SocketChannel socket && socket.isActive()) {
            socket.shutdownOutput();
        } else {
            channel.close();
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
