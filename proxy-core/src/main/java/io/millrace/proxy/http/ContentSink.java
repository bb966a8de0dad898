package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * What receives the pieces of a message's content, one for each {@link ContentSource#pull}.
 *
 * <p>Confined to one event loop.
 */
public interface ContentSink {
    /**
     * Whether what waits to be sent is bytes of the sink's own, as those that TLS has encrypted are, and no longer the piece, which may be shared with others;
     * or whether it hands on what it keeps in pieces of its own, as a tee does. It is given no more at a time than one read has.
     * One and the same answer always, on any thread, and never a fault.
     */
    default boolean keepsCopies() {
        return false;
    }

    /** A piece of content; takes ownership. */
    void onContent(ByteBuf content);

    /** There is no more, and it is whole. */
    void onEnd();

    /** As {@link #onEnd()}, with the trailer section behind the content; a sink that has no use for it drops it. */
    default void onEnd(@Nullable FieldSection trailers) {
        onEnd();
    }

    /** There is no more, and it is not whole: the receiver must be able to tell. */
    void onFailure(ContentFailure failure);
}
