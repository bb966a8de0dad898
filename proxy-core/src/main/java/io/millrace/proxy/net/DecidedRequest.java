package io.millrace.proxy.net;

import io.millrace.proxy.http.RequestHead;

/**
 * A request with a complete decision that the fast lane cannot answer. It continues in a channel, without another
 * decision. The owner calls exactly one of the two methods, once.
 *
 * <p>Confined to one event loop.
 */
public interface DecidedRequest {
    /**
     * Continues the request.
     *
     * @param stream the client stream from now on
     * @param head the same request, over bytes that stay valid
     * @return receives the rest of the request
     */
    RequestHandler resume(ClientStream stream, RequestHead head);

    /** Releases the request: its client has disconnected. */
    void release();
}
