package io.millrace.proxy.net;

import io.millrace.proxy.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * Where the fast lane brings the requests that it recognises. One per event loop.
 *
 * <p>Confined to one event loop.
 */
public interface DirectReceiver {
    /**
     * What comes from now on was not there yet when those before were answered. Without this between them, requests are taken to have come together,
     * and the time at which one is answered for the time at which the next one's turn came.
     */
    default void onTurn() {}

    /**
     * A plain GET or HEAD without content. It is answered whole on the stream before this returns, or not at all.
     *
     * @param head valid during the call only
     * @return null when it is answered; else what was decided, for a channel to go on with: what the stream was given is to be taken back
     */
    @Nullable
    DecidedRequest onDirectRequest(ClientStream stream, RequestHead head);
}
