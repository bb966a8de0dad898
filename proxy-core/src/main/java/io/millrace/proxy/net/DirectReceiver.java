package io.millrace.proxy.net;

import io.millrace.proxy.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * Receives the plain requests of the fast lane. One per event loop.
 *
 * <p>Confined to one event loop.
 */
public interface DirectReceiver {
    /**
     * Marks the start of a batch: later requests were not received when the previous ones were answered. Requests
     * without this call between them count as received together; the receiver may use the end time of one as the start
     * time of the next.
     */
    default void onTurn() {}

    /**
     * Receives a plain GET or HEAD without content. Either writes the complete response to the stream before it
     * returns, or writes nothing that stays.
     *
     * @param head valid during the call only
     * @return null when the request was answered; else the decision, for a channel to continue with. The caller then
     *     removes all written bytes from the stream
     */
    @Nullable
    DecidedRequest onDirectRequest(ClientStream stream, RequestHead head);
}
