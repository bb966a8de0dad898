package io.millrace.proxy.fetch.http2;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Receives the events of one HTTP/2 stream. The last event is {@link #onEnd} or {@link #onFailure}.
 *
 * <p>Confined to one event loop.
 */
public interface StreamListener {
    /** Receives a response head, interim or final. */
    void onHead(ResponseHead head);

    /** Receives a piece of content, never empty. Takes ownership. */
    void onContent(ByteBuf content);

    /** The response is complete. */
    void onEnd(@Nullable FieldSection trailers);

    /** Queued content was sent, so that more may be written. */
    void onWritable();

    /** The stream has ended before its response was complete. */
    void onFailure(StreamFailure failure);
}
