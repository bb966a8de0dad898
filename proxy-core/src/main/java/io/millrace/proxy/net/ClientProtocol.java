package io.millrace.proxy.net;

import io.netty.channel.Channel;

/**
 * A protocol of clients. Serves connections whose protocol is known.
 *
 * <p>Confined to one event loop.
 */
public interface ClientProtocol {
    /**
     * Adds the protocol's handlers to the end of a channel's pipeline. The connection is not in the
     * {@link ConnectionSet} yet.
     *
     * @param channel active
     * @param facts the facts about the connection
     */
    void serve(Channel channel, ClientConnection facts);
}
