package io.millrace.proxy.fetch;

import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * What a caller of {@link OriginClient#fetch} hears of its call.
 *
 * <p>Order: any number of {@link #onContinue()} and {@link #onInterim}, then {@link #onHead}, any number of {@link #onContent}, then {@link #onComplete}; or {@link
 * #onFailure} at any point, which ends it. Exactly one of onComplete and onFailure comes, unless the caller cancels: then nothing more comes. None of them is
 * called from within {@code fetch}. Any of them may call the {@link OriginCall} or start another call.
 *
 * <p>Confined to one event loop: called on that of the {@link OriginClient} only.
 */
public interface OriginResponseHandler {

    /** The origin asks for the content of a request that was sent with {@code Expect: 100-continue} (RFC 9110 s15.2.1). */
    default void onContinue() {}

    /** An interim response other than 100: 102, 103 and others (RFC 9110 s15.2). */
    default void onInterim(ResponseHead head) {}

    /**
     * The origin has switched to a protocol that the request offered (RFC 9110 s15.2.2): instead of {@link #onHead}, and nothing follows it. The
     * connection is the caller's from here on.
     */
    default void onSwitched(ResponseHead head, SwitchedConnection connection) {
        connection.close();
    }

    /** The request may send more content: once when a connection is there, and whenever the connection takes more again. */
    default void onRequestWritable() {}

    /**
     * The head of the final response, as received: hop-by-hop fields are still in it.
     *
     * @param framing how the content's end is recognised; {@link ResponseFraming#contentLength()} is the length to come, or -1
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

    /** The call failed; nothing more comes. */
    void onFailure(OriginFailure failure);
}
