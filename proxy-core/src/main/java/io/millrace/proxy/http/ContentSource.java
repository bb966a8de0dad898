package io.millrace.proxy.http;

/**
 * Where the content of a message comes from: a stored response, or an origin's answer on its way. The sink pulls, so that the
 * receiver's pace is the only pace.
 *
 * <p>Confined to the event loop of its sink.
 */
public interface ContentSource {
    /**
     * Asks for the next piece. Exactly one call of the sink answers it, from within this call or later; a second pull before
     * that is an error.
     */
    void pull();

    /** What was given waits to be sent, as the receiver is slower: the next pull comes when it has been. Told as often as that is so. */
    default void onBehind() {}

    /** Gives up: nothing more is delivered. Must be called once in every case, after the end too. */
    void close();
}
