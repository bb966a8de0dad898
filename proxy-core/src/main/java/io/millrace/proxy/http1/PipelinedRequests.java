package io.millrace.proxy.http1;

import io.millrace.proxy.http1.ConnectionDeadline.Waiting;
import io.millrace.proxy.net.BadRequest;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Passes the requests of one connection to their exchanges, one at a time and in order. An exchange is the object that
 * processes one request. Pipelined requests wait in decoded form while reading is stopped, so only the requests of one
 * read can wait. Content that the exchange no longer wants is discarded, up to a limit.
 *
 * <p>Confined to the connection's event loop.
 */
final class PipelinedRequests {
    /**
     * Limit of decoded objects that wait behind the current request. One read of 64 KiB of well-formed requests stays
     * below the limit.
     */
    private static final int WAITING_MAX = 8192;
    /**
     * Limit in bytes of request content that is discarded after an early response. Discarding lets the client read the
     * response before a reset.
     */
    static final long DISCARD_BYTES_MAX = 256 * 1024;

    private final Http1Connection connection;
    private final ArrayDeque<Object> waiting = new ArrayDeque<>(0);
    /** True while {@link #takeWaiting} runs. */
    private boolean isTaking;

    private long discardedBytes;

    PipelinedRequests(Http1Connection connection) {
        this.connection = connection;
    }

    /** Returns true if nothing waits behind the current request. */
    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Returns true if the request being started is the last waiting one. Its end-of-content object may still wait. */
    boolean isLastWaiting() {
        return isTaking && waiting.size() <= 1;
    }

    /** Resets the count of discarded bytes: the request that they belonged to has ended. */
    void resetDiscardedBytes() {
        discardedBytes = 0;
    }

    /** Receives an object from the decoder and starts, queues or discards it. Takes ownership. */
    void read(Object message) {
        Http1Stream current = connection.stream();
        if (connection.isClosing() || !(message instanceof ParsedRequest || message instanceof HttpContent)) {
            discard(message);
        } else if (waiting.isEmpty() && (current == null || !current.isRequestEnded())) {
            take(message);
        } else if (waiting.size() >= WAITING_MAX) {
            ReferenceCountUtil.release(message);
            connection.closeNow();
        } else {
            waiting.add(message);
            if (waiting.size() == 1) {
                connection.context().channel().config().setAutoRead(false);
            }
        }
    }

    private void discard(Object message) {
        if (message instanceof ByteBuf bytes) {
            discardedBytes += bytes.readableBytes();
        } else if (message instanceof HttpContent content) {
            discardedBytes += content.content().readableBytes();
        }
        ReferenceCountUtil.release(message);
        if (discardedBytes > DISCARD_BYTES_MAX) {
            connection.closeNow();
        }
    }

    /** Passes a request's head, or a piece of its content, to its exchange. Takes ownership. */
    void take(Object message) {
        if (message instanceof ParsedRequest parsed) {
            connection.takeRequest(parsed, null);
        } else if (message instanceof HttpContent content) {
            takeContent(content);
        }
    }

    private void takeContent(HttpContent content) {
        Http1Stream current = connection.stream();
        if (current == null) {
            content.release();
            return;
        }
        boolean last = content instanceof LastHttpContent;
        if (content.decoderResult().isFailure()) {
            content.release();
            current.failRequest(BadRequest.SYNTAX);
            return;
        }
        ByteBuf bytes = content.content();
        if (!bytes.isReadable() || current.isResponseEnded()) {
            discardedBytes += bytes.readableBytes();
            bytes.release();
        } else if (!current.takeContent(bytes)) {
            return;
        }
        if (last) {
            ConnectionDeadline deadline = connection.deadline();
            if (deadline.isFor(Waiting.CONTENT)) {
                deadline.await(Waiting.RESPONSE);
            }
            current.endRequest();
        } else if (discardedBytes > DISCARD_BYTES_MAX) {
            connection.closeNow();
        }
    }

    /**
     * Starts the waiting requests after the current exchange has ended, until one of them is not answered immediately.
     */
    void takeWaiting() {
        if (isTaking) {
            return;
        }
        isTaking = true;
        try {
            while (!waiting.isEmpty() && !connection.isClosing() && acceptsContent(connection.stream())) {
                take(waiting.remove());
            }
        } finally {
            isTaking = false;
        }
        updateAutoRead();
    }

    private static boolean acceptsContent(@Nullable Http1Stream current) {
        return current == null || !current.isRequestEnded();
    }

    /**
     * Turns reading on while the next request or wanted content may arrive, else off: backpressure through the kernel's
     * buffer. After a complete request, reading stays on until bytes arrive. Most clients send nothing before the
     * response, so this saves two epoll_ctl calls per request.
     */
    void updateAutoRead() {
        if (connection.isLeaving() || !connection.context().channel().isActive()) {
            return;
        }
        boolean closing = connection.isClosing();
        Http1Stream current = connection.stream();
        if (!closing && current != null && current.isRequestEnded() && waiting.isEmpty()) {
            return;
        }
        boolean shouldRead = closing
                || current == null
                || (!current.isRequestEnded() && (current.wantsContent() || current.isResponseEnded()));
        // During a read, reading is only turned off. This method runs again at the end of the read.
        if (!shouldRead || !connection.output().isInRead()) {
            connection.context().channel().config().setAutoRead(shouldRead);
        }
    }

    /** Removes the decoder after the current event. Later input is discarded. */
    void removeDecoderSoon() {
        ChannelHandlerContext ctx = connection.context();
        if (ctx.pipeline().get(Http1RequestDecoder.class) != null) {
            ctx.executor().execute(() -> {
                if (!ctx.isRemoved() && ctx.pipeline().get(Http1RequestDecoder.class) != null) {
                    ctx.pipeline().remove(Http1RequestDecoder.class);
                    updateAutoRead();
                }
            });
        }
    }

    /** Releases all waiting objects. */
    void drop() {
        while (!waiting.isEmpty()) {
            ReferenceCountUtil.release(waiting.remove());
        }
    }
}
