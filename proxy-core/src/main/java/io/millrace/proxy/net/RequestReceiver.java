package io.millrace.proxy.net;

import io.millrace.proxy.http.RequestHead;

/**
 * Where the lanes bring the requests they read. One per event loop.
 *
 * <p>Confined to one event loop.
 */
public interface RequestReceiver {
    /** The content length of a request whose content comes in chunks. */
    long CHUNKED = -1;

    /**
     * A request arrived.
     *
     * @param contentLength bytes of content that follow, 0 when there is none, {@link #CHUNKED} when not known before
     * @return what receives the rest of it
     */
    RequestHandler onRequest(ClientStream stream, RequestHead head, long contentLength);

    /** Something arrived that is no acceptable request; the receiver answers, the lane closes the connection afterwards. */
    void onBadRequest(ClientStream stream, BadRequest reason);
}
