package io.millrace.proxy.fetch;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;

/**
 * An origin connection that has left HTTP, for a tunnel. The connection is not read before the hand-over. The owner of
 * this object must hand the connection over or close it. The connection counts as a tunnel of the origin until it is
 * closed.
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

    /**
     * Adds {@code to} at the end of the pipeline. Bytes already read are passed to {@code to} before this method
     * returns.
     */
    public void handOver(ChannelHandler to) {
        channel.pipeline().addLast(to);
        channel.pipeline().remove(connection);
        channel.pipeline().remove(decoder);
    }

    /** Closes the connection instead of handing it over. */
    public void close() {
        channel.close();
    }
}
