package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;

/**
 * What receives the pieces of a message's content, one for each {@link ContentSource#pull}.
 *
 * <p>Confined to one event loop.
 */
public interface ContentSink {
    /** A piece of content; takes ownership. */
    void onContent(ByteBuf content);

    /** Whether a piece may come as {@link #onFile}. */
    default boolean takesFiles() {
        return false;
    }

    /** A piece of content in a file; takes ownership. Only where {@link #takesFiles}. */
    default void onFile(FileContent content) {
        content.release();
        throw new UnsupportedOperationException("no files here");
    }

    /** There is no more, and it is whole. */
    void onEnd();

    /** There is no more, and it is not whole: the receiver must be able to tell. */
    void onFailure(ContentFailure failure);
}
