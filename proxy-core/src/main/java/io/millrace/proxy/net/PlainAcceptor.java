package io.millrace.proxy.net;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;

/**
 * Takes accepted connections out of the channels that Netty makes for them, before those are registered, and hands the sockets over.
 *
 * <p>Confined to its listening channel's event loop, which serves the connections too.
 */
final class PlainAcceptor extends ChannelInboundHandlerAdapter {
    private final PlainReceiver receiver;

    PlainAcceptor(PlainReceiver receiver) {
        this.receiver = receiver;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (receiver.isOpen() && message instanceof SocketChannel accepted) {
            PlainSocket socket = PlainSocket.of(accepted, ctx.channel().eventLoop());
            // A client that is gone already has no address any more; the channel finds out.
            if (socket != null && accepted.remoteAddress() != null && accepted.localAddress() != null) {
                receiver.onAccepted(
                        socket, new ClientConnection(accepted.remoteAddress(), accepted.localAddress(), false));
                return;
            }
        }
        ctx.fireChannelRead(message);
    }
}
