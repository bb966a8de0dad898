package io.millrace.proxy.net;

import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.memory.SlowReason;
import io.netty.buffer.ByteBuf;

/**
 * Receives the events of one request after its head. The exchange (the object that processes the request) implements
 * this interface, and the client's connection calls it.
 *
 * <p>Confined to the stream's event loop. {@link #onClientGone} is the last call.
 */
public interface RequestHandler {
    /** Receives a piece of the request's content. Takes ownership. */
    void onContent(ByteBuf content);

    /** The request is complete. Called for requests without content too. */
    void onRequestEnd();

    /** The content exceeds {@code limits.request_body}, or its framing is invalid. No more content follows. */
    void onRequestFailure(BadRequest reason);

    /** The stream accepts content again. */
    void onWritable();

    /** Returns how urgently other requests need the origin connection that this response occupies. */
    default SlowClients.OriginDemand originDemand() {
        return SlowClients.OriginDemand.NONE;
    }

    /** The client receives the response too slowly. {@link #onClientGone} follows. */
    default void onClientTooSlow(SlowReason reason) {}

    /** The client disconnected or its connection failed. The stream is closed. */
    void onClientGone();
}
