package io.millrace.proxy.net;

import io.netty.channel.ChannelHandler;

/**
 * The client's side of a tunnel, which owns a client connection after CONNECT or an upgrade. Receives all
 * further bytes, controls reading and writing, and closes the connection.
 *
 * <p>Confined to the connection's event loop.
 */
public interface ClientTunnel {
    /** The channel handler that receives the client's bytes. The caller adds it once, at the end of the pipeline. */
    ChannelHandler clientSide();

    /**
     * Ends the client's direction: the client had shut down its output before the tunnel started. Called after the
     * client's bytes were passed on.
     */
    void endClientInput();

    /** Checks the deadlines. Called at each tick (periodic check) of the {@link ConnectionSet}. */
    void onTick(long nowNanos);

    /** Closes the tunnel immediately, because the client does not accept the sent bytes. */
    void onClientTooSlow();

    /** Closes the tunnel immediately. */
    void close();
}
