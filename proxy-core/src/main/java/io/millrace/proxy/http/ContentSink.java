package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The receiver of a message's content, with one piece for each {@link ContentSource#pull}.
 *
 * <p>Confined to one event loop.
 */
public interface ContentSink {
    /**
     * Returns true if the sink queues copies and not the piece itself, which may be shared with others. Examples are
     * the encrypted bytes of TLS and the separate pieces of a tee. Such a sink receives at most the bytes of one read
     * at a time. Always returns the same value, on any thread, and never throws.
     */
    default boolean keepsCopies() {
        return false;
    }

    /** Receives a piece of content. Takes ownership. */
    void onContent(ByteBuf content);

    /** The content is complete. */
    void onEnd();

    /** Like {@link #onEnd()}, with the trailer section after the content. By default the trailers are dropped. */
    default void onEnd(@Nullable FieldSection trailers) {
        onEnd();
    }

    /** The content ended early. The sink must make this visible to its receiver. */
    void onFailure(ContentFailure failure);
}
