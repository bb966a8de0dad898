package io.millrace.proxy.net;

import io.netty.channel.Channel;

/**
 * A protocol that clients speak, which serves connections whose protocol is known.
 *
 * <p>Confined to one event loop.
 */
public interface ClientProtocol {
    /**
     * Adds the protocol's handlers to the end of a channel's pipeline. The connection is none of the {@link ConnectionSet}'s yet.
     *
     * @param channel active
     * @param facts what is known of the connection
     */
    void serve(Channel channel, ClientConnection facts);
}
