package io.millrace.proxy.net;

import io.netty.channel.ChannelHandler;

/**
 * What has a client's connection to itself once that speaks HTTP no longer: it is given every byte from there on, reads and writes as it likes, and
 * ends the connection.
 *
 * <p>Confined to the connection's event loop.
 */
public interface ClientTunnel {
    /** The end of the channel's pipeline from now on; added once. */
    ChannelHandler clientSide();

    /** The client had shut down its sending side before the tunnel stood; called once that its bytes have gone in. */
    void endClientInput();

    /** Looks at its deadlines: called at each tick of the {@link ConnectionSet}. */
    void onTick(long nowNanos);

    /** Ends it at once, since the client does not take what is sent to it. */
    void onClientTooSlow();

    /** Ends it at once. */
    void close();
}
