package io.millrace.proxy.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.util.function.IntConsumer;

/**
 * Counts the bytes that are written to connections. As the first handler of a pipeline it counts TLS records.
 *
 * <p>Confined to one event loop, whose channels may share it.
 */
@Sharable
public final class CountedWrites extends ChannelOutboundHandlerAdapter {
    private final IntConsumer onSent;

    /**
     * Creates the handler for the channels of one event loop.
     *
     * @param onSent called with the number of bytes of each write, before it reaches the socket
     */
    public CountedWrites(IntConsumer onSent) {
        this.onSent = onSent;
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf bytes) {
            onSent.accept(bytes.readableBytes());
        }
        context.write(message, promise);
    }
}
