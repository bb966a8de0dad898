package io.millrace.proxy.net;

import io.millrace.proxy.http.RequestHead;

/**
 * A request about which everything is decided and that the fast lane cannot answer: it goes on in a channel, without being decided again.
 * Whoever holds one calls one of the two methods, once.
 *
 * <p>Confined to one event loop.
 */
public interface DecidedRequest {
    /**
     * Goes on.
     *
     * @param stream the request's way back from now on
     * @param head the same request as the one decided about, over bytes that stay
     * @return what receives the rest of the request
     */
    RequestHandler resume(ClientStream stream, RequestHead head);

    /** Gives it up: the client is gone. */
    void release();
}
