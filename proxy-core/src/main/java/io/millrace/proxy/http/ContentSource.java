package io.millrace.proxy.http;

/**
 * A source of message content: a stored response, or an origin's response in transfer. The sink pulls, so that the
 * receiver alone determines the pace.
 *
 * <p>Confined to the event loop of its sink.
 */
public interface ContentSource {
    /**
     * Requests the next piece. The source answers with exactly one call of the sink, within this call or later. A
     * second pull before that is an error.
     */
    void pull();

    /**
     * Notifies that the last piece waits because the receiver is slower. The next pull follows when the piece was sent.
     * Called each time this occurs.
     */
    default void onBehind() {}

    /** Closes the source: nothing more is delivered. Must be called exactly once in every case, also after the end. */
    void close();
}
