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

    /** There is no more, and it is whole. */
    void onEnd();

    /** There is no more, and it is not whole: the receiver must be able to tell. */
    void onFailure(ContentFailure failure);
}
