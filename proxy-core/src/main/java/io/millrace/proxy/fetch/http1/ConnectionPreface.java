package io.millrace.proxy.fetch.http1;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * A handler that writes the first bytes of a connection, before TLS: a PROXY protocol header. The first flush sends
 * them.
 *
 * <p>Confined to one event loop.
 */
public final class ConnectionPreface extends ChannelInboundHandlerAdapter {
    private final byte[] bytes;

    /** Creates the handler. Borrows the bytes. */
    public ConnectionPreface(byte[] bytes) {
        this.bytes = bytes;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.write(context.alloc().ioBuffer(bytes.length).writeBytes(bytes), context.voidPromise());
        context.fireChannelActive();
        context.pipeline().remove(this);
    }
}
