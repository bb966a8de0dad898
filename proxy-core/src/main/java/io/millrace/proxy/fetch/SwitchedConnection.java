package io.millrace.proxy.fetch;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;

/**
 * An origin connection that carries the bytes of a tunnel instead of HTTP, after CONNECT or 101 (Switching Protocols).
 * Nothing is read from it before {@link #handOver}. The owner of this object must call {@link #handOver} or
 * {@link #close}. The connection counts in the origin's limit of tunnels (after
 * CONNECT, in its limit of connections) until it is closed.
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
     * Replaces the handlers for HTTP by {@code to}, the handler of the tunnel. Bytes already read are passed to {@code to} before this method
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
