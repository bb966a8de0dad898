package io.millrace.proxy.fetch.http2;

/**
 * Takes the events of one connection.
 *
 * <p>Confined to one event loop.
 */
public interface ConnectionListener {
    /** The number of streams that may begin has changed: settings of the origin, or a stream that ended. */
    void onCapacity();

    /** Bytes of the origin have arrived. */
    void onActivity();

    /** The connection takes no more streams. Those that it has go on. */
    void onDraining();

    /** The connection is over, and so are its streams. */
    void onClosed();
}
