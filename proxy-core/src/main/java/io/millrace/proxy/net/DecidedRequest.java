package io.millrace.proxy.net;

import io.millrace.proxy.http.RequestHead;

/**
 * A request whose cache decision is made, but whose response the fast lane cannot send. The fast lane answers RAM hits
 * without an exchange (the object that processes a request). All other requests continue in an exchange, with this
 * decision. The owner calls exactly one of the two methods, once.
 *
 * <p>Confined to one event loop.
 */
public interface DecidedRequest {
    /**
     * Continues the request.
     *
     * @param stream the stream to which the response is written
     * @param head a copy of the request head, valid until the end of the request
     * @return the receiver of further events of the request
     */
    RequestHandler resume(ClientStream stream, RequestHead head);

    /** Releases the request: its client has disconnected. */
    void release();
}
