package io.millrace.proxy.net;

import io.netty.channel.Channel;

/**
 * Installs the handlers of one protocol, such as HTTP/1.1 or HTTP/2, for client connections.
 *
 * <p>Confined to one event loop.
 */
public interface ClientProtocol {
    /**
     * Adds the protocol's handlers to the end of a channel's pipeline. The connection is not in the
     * {@link ConnectionSet} yet.
     *
     * @param channel active
     * @param connection the addresses and TLS properties of the connection
     */
    void serve(Channel channel, ClientConnection connection);
}
