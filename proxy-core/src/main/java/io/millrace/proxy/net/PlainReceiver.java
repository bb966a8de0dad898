package io.millrace.proxy.net;

/**
 * Receives client connections that are accepted without a Netty channel. One per event loop.
 *
 * <p>Confined to one event loop.
 */
public interface PlainReceiver {
    /** Returns true if new connections should start without a channel. Called for each connection. */
    boolean isOpen();

    /** Receives a new connection. Takes ownership of the socket, which is not registered with epoll yet. */
    void onAccepted(PlainSocket socket, ClientConnection facts);
}
