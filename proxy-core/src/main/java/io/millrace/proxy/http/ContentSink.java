package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The receiver of a message's content. It gets one piece for each {@link ContentSource#pull}.
 *
 * <p>Confined to one event loop.
 */
public interface ContentSink {
    /**
     * Returns true if the sink queues copies of a piece, such as encrypted bytes, and not the piece itself. Sharing one
     * large piece among such sinks saves no memory, so each gets smaller pieces. Always returns the same value, on any
     * thread, and never throws.
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
