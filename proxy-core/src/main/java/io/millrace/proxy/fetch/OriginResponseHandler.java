package io.millrace.proxy.fetch;

import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Receives the events of a call of {@link OriginClient#fetch}.
 *
 * <p>Order: any number of {@link #onContinue()} and {@link #onInterim}, then {@link #onHead}, any number of
 * {@link #onContent}, then {@link #onComplete}. {@link #onFailure} may be called at any point and ends the call. After
 * {@link OriginCall#cancel()} no method is called. No method is called within {@code fetch}. Each method may call the
 * {@link OriginCall} or start another call.
 *
 * <p>Confined to the event loop of the {@link OriginClient}.
 */
public interface OriginResponseHandler {

    /**
     * The origin requests the content of a request that was sent with {@code Expect: 100-continue} (RFC 9110 s15.2.1).
     */
    default void onContinue() {}

    /** An interim response other than 100: 102, 103 and others (RFC 9110 s15.2). */
    default void onInterim(ResponseHead head) {}

    /**
     * The origin has switched to a protocol that the request offered (RFC 9110 s15.2.2). Called instead of
     * {@link #onHead}, as the last event. The handler takes ownership of the connection.
     */
    default void onSwitched(ResponseHead head, SwitchedConnection connection) {
        connection.close();
    }

    /**
     * The caller may write more content. Called once when the call has a connection, and whenever the connection
     * becomes writable again.
     */
    default void onRequestWritable() {}

    /**
     * The head of the final response, as received, including hop-by-hop fields.
     *
     * @param framing how the end of the content is detected; {@link ResponseFraming#contentLength()} is the length to
     *     come, or -1
     */
    void onHead(ResponseHead head, ResponseFraming framing);

    /** A piece of content, never empty. Takes ownership. */
    void onContent(ByteBuf content);

    /**
     * The response is complete.
     *
     * @param trailers the trailer section, null when there was none
     */
    void onComplete(@Nullable FieldSection trailers);

    /** The call has failed. No further method is called. */
    void onFailure(OriginFailure failure);
}
