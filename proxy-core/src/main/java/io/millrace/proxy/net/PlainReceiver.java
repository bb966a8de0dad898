package io.millrace.proxy.net;

/**
 * Takes the connections that are accepted without a channel. One per event loop.
 *
 * <p>Confined to one event loop.
 */
public interface PlainReceiver {
    /** Whether new connections are wanted without a channel; asked for each. */
    boolean isOpen();

    /** A client connected; takes ownership of the socket, which is not polled yet. */
    void onAccepted(PlainSocket socket, ClientConnection facts);
}
