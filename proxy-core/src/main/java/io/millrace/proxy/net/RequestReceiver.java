package io.millrace.proxy.net;

import io.millrace.proxy.http.RequestHead;

/**
 * Receives the parsed requests of client connections. Creates an exchange for each request: the object that processes
 * it. One per event loop.
 *
 * <p>Confined to one event loop.
 */
public interface RequestReceiver {
    /** The content length of a request whose length is unknown: chunked, or HTTP/2 without Content-Length. */
    long CHUNKED = -1;

    /**
     * Receives a request.
     *
     * @param contentLength bytes of content that follow, 0 for none, {@link #CHUNKED} when unknown
     * @return the exchange, which receives the rest of the request
     */
    RequestHandler onRequest(ClientStream stream, RequestHead head, long contentLength);

    /** Receives an invalid request. The receiver answers; the caller closes the connection afterwards. */
    void onBadRequest(ClientStream stream, BadRequest reason);
}
