package io.millrace.proxy.net;

import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.memory.SlowReason;
import io.netty.buffer.ByteBuf;

/**
 * The receiving side of one request after its head: implemented by the exchange, called by the lane that carries it.
 *
 * <p>Confined to the stream's event loop. After {@link #onClientGone} nothing more is called.
 */
public interface RequestHandler {
    /** A piece of the request's content; takes ownership. */
    void onContent(ByteBuf content);

    /** The request is complete. Called for requests without content too. */
    void onRequestEnd();

    /** The content is larger than {@code limits.request_body}, or its framing broke; no more of it comes. */
    void onRequestFailure(BadRequest reason);

    /** The stream can take content again. */
    void onWritable();

    /** How much others want the origin connection that the response holds. */
    default SlowClients.OriginDemand originDemand() {
        return SlowClients.OriginDemand.NONE;
    }

    /** The client takes the response too slowly: {@link #onClientGone} follows. */
    default void onClientTooSlow(SlowReason reason) {}

    /** The client went away or its connection failed; the stream is dead. */
    void onClientGone();
}
