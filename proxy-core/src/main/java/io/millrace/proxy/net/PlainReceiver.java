package io.millrace.proxy.net;

/**
 * Receives client connections that are accepted as {@link PlainSocket}, which means without a Netty channel. One per
 * event loop.
 *
 * <p>Confined to one event loop.
 */
public interface PlainReceiver {
    /**
     * Returns true if this object takes the next connection. Otherwise the connection gets a channel. Called for each
     * connection.
     */
    boolean takesConnections();

    /** Receives a new connection. Takes ownership of the socket, which is not registered with epoll yet. */
    void onAccepted(PlainSocket socket, ClientConnection connection);
}
