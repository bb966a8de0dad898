package io.millrace.proxy.fetch.http2;

/**
 * Receives the events of one HTTP/2 connection to an origin.
 *
 * <p>Confined to one event loop.
 */
public interface ConnectionListener {
    /** The number of streams that may begin has changed, by the origin's settings or the end of a stream. */
    void onCapacity();

    /** The origin has sent bytes. */
    void onActivity();

    /** The connection accepts no more streams; existing ones continue. */
    void onDraining();

    /** The connection and all its streams have ended. */
    void onClosed();
}
