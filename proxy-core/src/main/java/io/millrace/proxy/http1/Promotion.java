package io.millrace.proxy.http1;

import io.millrace.proxy.net.DecidedRequest;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/**
 * The state of a connection that moves from the {@link FastLane}, which works without a Netty channel, to a channel.
 * The holder owns the buffers and the decided request.
 *
 * <p>Confined to one event loop.
 *
 * @param unsent bytes of responses not yet accepted by the client's socket; null for none
 * @param last whether the connection ends after the unsent responses
 * @param parsed the parsed request, which owns its bytes; null for none
 * @param decided the decision for that request; null for none
 * @param rest bytes that were read and belong to later requests, or to a request that the fast lane cannot handle (see
 *     {@link PlainRequestScanner}); null for none
 */
record Promotion(
        @Nullable ByteBuf unsent,
        boolean last,
        @Nullable ParsedRequest parsed,
        @Nullable DecidedRequest decided,
        @Nullable ByteBuf rest) {

    /** Releases all contents: the connection is closed. */
    void release() {
        ReferenceCountUtil.release(unsent);
        ReferenceCountUtil.release(rest);
        if (decided != null) {
            decided.release();
        }
    }
}
