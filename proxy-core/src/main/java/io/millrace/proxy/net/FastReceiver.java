package io.millrace.proxy.net;

import io.millrace.proxy.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests from RAM in the fast lane: the path without an exchange (the object that processes a request). One
 * per event loop.
 *
 * <p>Confined to one event loop.
 */
public interface FastReceiver {
    /**
     * Marks the start of a batch of requests that one read received. Within a batch, the receiver may use the end
     * time of one request as the start time of the next, which saves a clock query.
     */
    default void beginBatch() {}

    /**
     * Tries to answer a GET or HEAD without content. Writes the complete response to the stream before it returns, or
     * returns the cache decision.
     *
     * @param head valid during the call only
     * @return null if the request was answered; otherwise the cache decision, for the exchange that continues the
     *     request. In this case the caller removes bytes that were already written to the stream
     */
    @Nullable
    DecidedRequest onFastRequest(ClientStream stream, RequestHead head);
}
