package io.millrace.proxy.net;

import io.netty.channel.ChannelHandler;

/**
 * The owner of a client's connection that has left HTTP. Receives all further bytes, controls reading and writing, and
 * closes the connection.
 *
 * <p>Confined to the connection's event loop.
 */
public interface ClientTunnel {
    /** The last handler of the channel's pipeline from now on; added once. */
    ChannelHandler clientSide();

    /** Called when the client had shut down its output before the tunnel started, after its bytes were passed on. */
    void endClientInput();

    /** Checks the deadlines. Called at each tick of the {@link ConnectionSet}. */
    void onTick(long nowNanos);

    /** Closes the tunnel at once, since the client does not accept the sent bytes. */
    void onClientTooSlow();

    /** Closes the tunnel at once. */
    void close();
}
