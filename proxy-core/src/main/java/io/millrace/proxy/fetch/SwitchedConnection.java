package io.millrace.proxy.fetch;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;

/**
 * An origin's connection that speaks HTTP no longer. It is not read before it is handed over, and belongs to the one who was given this: who hands it over
 * or closes it. It counts as one of the origin's tunnels until it ends.
 *
 * <p>Confined to its event loop.
 */
public final class SwitchedConnection {
    private final Channel channel;
    private final ChannelHandler connection;
    private final ChannelHandler decoder;

    SwitchedConnection(Channel channel, ChannelHandler connection, ChannelHandler decoder) {
        this.channel = channel;
        this.connection = connection;
        this.decoder = decoder;
    }

    /** Makes {@code to} the end of the pipeline; what was read already comes to it before this returns. */
    public void handOver(ChannelHandler to) {
        channel.pipeline().addLast(to);
        channel.pipeline().remove(connection);
        channel.pipeline().remove(decoder);
    }

    /** Closes it instead. */
    public void close() {
        channel.close();
    }
}
