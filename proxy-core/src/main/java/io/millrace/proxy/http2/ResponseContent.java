package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.Frames;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Content of one response that waits for the client's windows and the channel, and the window of its stream.
 *
 * <p>Owns the content. Confined to one event loop.
 */
final class ResponseContent {
    /** Content that may wait here before the exchange pauses. */
    private static final int QUEUED_BYTES_MAX = 64 * 1024;

    private @Nullable ArrayDeque<ByteBuf> queue;
    private long queuedBytes;
    private int window;
    private boolean sentSinceTick;
    private long stalledSinceNanos;

    /** @param window bytes of content that the client takes */
    ResponseContent(int window) {
        this.window = window;
    }

    /** Appends content that is not empty; takes ownership. */
    void add(ByteBuf content) {
        ArrayDeque<ByteBuf> waiting = queue;
        if (waiting == null) {
            waiting = new ArrayDeque<>(4);
            queue = waiting;
        }
        waiting.add(content);
        queuedBytes += content.readableBytes();
    }

    /** Bytes that wait. */
    long queuedBytes() {
        return queuedBytes;
    }

    boolean isEmpty() {
        return queuedBytes == 0;
    }

    /** Whether content waits that the stream's window takes. */
    boolean isSendable() {
        return queuedBytes > 0 && window > 0;
    }

    /**
     * Whether more content may be added now.
     *
     * @param blocked whether the connection sends none: then one piece is enough
     */
    boolean hasRoom(boolean blocked) {
        return queuedBytes < (blocked || window <= 0 ? 1 : QUEUED_BYTES_MAX);
    }

    /** As {@link #hasRoom}, for an exchange that pauses: it goes on when half of the content has left. */
    boolean hasRoomAgain(boolean blocked) {
        return queuedBytes < (blocked || window <= 0 ? 1 : QUEUED_BYTES_MAX / 2);
    }

    /** Takes out what the next frame is to have, at most this many bytes; only where it {@link #isSendable}. Passes ownership. */
    ByteBuf take(int most) {
        ArrayDeque<ByteBuf> waiting = queue;
        if (waiting == null) {
            throw new IllegalStateException("no content waits");
        }
        ByteBuf first = waiting.element();
        int length = Math.min(Math.min(Math.min(most, window), Frames.PAYLOAD_BYTES_MAX), first.readableBytes());
        queuedBytes -= length;
        window -= length;
        sentSinceTick = true;
        return length == first.readableBytes() ? waiting.remove() : first.readRetainedSlice(length);
    }

    /** The stream's window; below zero after a change of settings. */
    int window() {
        return window;
    }

    /** Changes the window; false when it becomes larger than it may (RFC 9113 s6.9.1). */
    boolean enlargeWindow(int by) {
        long larger = (long) window + by;
        if (larger > Frames.WINDOW_MAX) {
            return false;
        }
        window = (int) larger;
        return true;
    }

    /**
     * Whether the client has kept a window closed on content for so long; once a tick.
     *
     * @param isConnectionOpen whether the window of the connection takes content
     */
    boolean isStalled(boolean isConnectionOpen, long nowNanos, long timeoutNanos) {
        if (queuedBytes == 0 || (window > 0 && isConnectionOpen) || sentSinceTick) {
            sentSinceTick = false;
            stalledSinceNanos = 0;
            return false;
        }
        if (stalledSinceNanos == 0) {
            stalledSinceNanos = nowNanos;
            return false;
        }
        return nowNanos - stalledSinceNanos >= timeoutNanos;
    }

    /** Releases what waits. */
    void release() {
        ArrayDeque<ByteBuf> waiting = queue;
        queue = null;
        queuedBytes = 0;
        while (waiting != null && !waiting.isEmpty()) {
            waiting.remove().release();
        }
    }
}
