package io.millrace.proxy.fetch;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;

/**
 * An origin connection that carries the bytes of a tunnel instead of HTTP, after CONNECT or 101 (Switching Protocols).
 * Nothing is read from it before {@link #handOver}. The owner of this object must call {@link #handOver} or
 * {@link #close}. Until it is closed, the connection counts towards the origin's limit of tunnels. A connection that
 * became a tunnel by a CONNECT request to a proxy counts towards the limit of connections instead.
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
     * Replaces the HTTP handlers by the tunnel's handler {@code to}. Bytes already read are passed to it before this
     * method returns.
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
