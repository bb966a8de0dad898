package io.millrace.proxy.http1;

import io.millrace.proxy.net.DecidedRequest;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/**
 * What a connection takes along from the fast lane into a channel. Whoever has it owns the buffers and the decided request.
 *
 * <p>Confined to one event loop.
 *
 * @param unsent responses, or the rest of one, that the client has not taken yet; null for none
 * @param last whether nothing follows those
 * @param reading the request that is decided about, over bytes of its own; null without one
 * @param decided null without one
 * @param rest bytes that were read and belong to later requests, or to one that the fast lane did not recognise; null for none
 */
record Promotion(
        @Nullable ByteBuf unsent,
        boolean last,
        @Nullable RequestReading reading,
        @Nullable DecidedRequest decided,
        @Nullable ByteBuf rest) {

    /** The connection is gone. */
    void release() {
        ReferenceCountUtil.release(unsent);
        ReferenceCountUtil.release(rest);
        if (decided != null) {
            decided.release();
        }
    }
}
