package io.millrace.proxy.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.util.function.IntConsumer;

/**
 * A channel handler that counts the bytes written to connections. It must be the first handler of the pipeline,
 * so that it counts encrypted bytes.
 *
 * <p>One instance serves all channels of an event loop. Confined to the event loop.
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
