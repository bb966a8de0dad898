package io.millrace.proxy.http;

/**
 * A source of message content: a stored response, or an origin's response in transfer. The sink pulls each piece, so
 * the receiver determines the pace.
 *
 * <p>Confined to the event loop of its sink.
 */
public interface ContentSource {
    /**
     * Requests the next piece. The source answers with exactly one call of the sink, within this call or later. A
     * second pull before this answer is an error.
     */
    void pull();

    /**
     * Tells the source that its last piece waits, because the receiver is slower than the source. The next pull follows
     * after the piece is sent. Called for each such piece.
     */
    default void onBehind() {}

    /** Closes the source: nothing more is delivered. Must be called exactly once in every case, also after the end. */
    void close();
}
