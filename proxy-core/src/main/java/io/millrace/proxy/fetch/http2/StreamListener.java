package io.millrace.proxy.fetch.http2;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Takes the events of one stream. {@link #onEnd} or {@link #onFailure} is the last of them.
 *
 * <p>Confined to one event loop.
 */
public interface StreamListener {
    /** The head of a response, interim ones included. */
    void onHead(ResponseHead head);

    /** A piece of content, never empty. Takes ownership. */
    void onContent(ByteBuf content);

    /** The response is complete. */
    void onEnd(@Nullable FieldSection trailers);

    /** Queued content has left: more may be written. */
    void onWritable();

    /** The stream has ended before its response. */
    void onFailure(StreamFailure failure);
}
