package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.Frames;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The queue of response content of one stream, with the stream's flow-control send window.
 *
 * <p>An exchange (the object that processes a request) adds the content. The content waits here until the client's
 * windows and the channel accept it. Owns the content. Confined to one event loop.
 */
final class ResponseContent {
    /** Bytes that may wait here before the exchange must pause. */
    private static final int QUEUED_BYTES_MAX = 64 * 1024;

    private @Nullable ArrayDeque<ByteBuf> queue;
    private long queuedBytes;
    private int window;
    private boolean sentSinceTick;
    private long stalledSinceNanos;

    /**
     * @param window send window of the stream in bytes
     */
    ResponseContent(int window) {
        this.window = window;
    }

    /** Appends content, which must not be empty. Takes ownership. */
    void add(ByteBuf content) {
        ArrayDeque<ByteBuf> waiting = queue;
        if (waiting == null) {
            waiting = new ArrayDeque<>(4);
            queue = waiting;
        }
        waiting.add(content);
        queuedBytes += content.readableBytes();
    }

    /** The number of waiting bytes. */
    long queuedBytes() {
        return queuedBytes;
    }

    boolean isEmpty() {
        return queuedBytes == 0;
    }

    /** Returns true if content waits that the stream's window accepts. */
    boolean isSendable() {
        return queuedBytes > 0 && window > 0;
    }

    /**
     * Returns true if more content may be added now.
     *
     * @param blocked whether the connection can send no content; then content may be added only to an empty queue,
     *     instead of up to 64 KiB
     */
    boolean hasRoom(boolean blocked) {
        return queuedBytes < (blocked || window <= 0 ? 1 : QUEUED_BYTES_MAX);
    }

    /**
     * Returns true if an exchange that paused may add content again: less than half of the limit waits.
     *
     * @param blocked as in {@link #hasRoom}
     */
    boolean hasRoomAgain(boolean blocked) {
        return queuedBytes < (blocked || window <= 0 ? 1 : QUEUED_BYTES_MAX / 2);
    }

    /**
     * Removes and returns the content of the next frame, at most {@code bytesMax} bytes. Call only if
     * {@link #isSendable}. Passes ownership to the caller.
     */
    ByteBuf take(int bytesMax) {
        ArrayDeque<ByteBuf> waiting = queue;
        if (waiting == null) {
            throw new IllegalStateException("take() of an empty queue");
        }
        ByteBuf first = waiting.element();
        int length = Math.min(Math.min(Math.min(bytesMax, window), Frames.PAYLOAD_BYTES_MAX), first.readableBytes());
        queuedBytes -= length;
        window -= length;
        sentSinceTick = true;
        return length == first.readableBytes() ? waiting.remove() : first.readRetainedSlice(length);
    }

    /**
     * The stream's send window in bytes. Negative if the client reduced SETTINGS_INITIAL_WINDOW_SIZE below the bytes
     * already sent.
     */
    int window() {
        return window;
    }

    /**
     * Adds {@code increment} bytes, which may be negative, to the window. Returns false, and changes nothing, if the
     * sum would exceed the limit of 2^31-1 bytes (RFC 9113 s6.9.1).
     */
    boolean enlargeWindow(int increment) {
        long larger = (long) window + increment;
        if (larger > Frames.WINDOW_MAX) {
            return false;
        }
        window = (int) larger;
        return true;
    }

    /**
     * Returns true if content has waited too long for a flow-control window of the client. Call once per tick (the
     * periodic check of all connections).
     *
     * @param isConnectionOpen whether the connection's window accepts content
     */
    boolean checkStalled(boolean isConnectionOpen, long nowNanos, long timeoutNanos) {
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

    /** Releases the waiting content. */
    void release() {
        ArrayDeque<ByteBuf> waiting = queue;
        queue = null;
        queuedBytes = 0;
        while (waiting != null && !waiting.isEmpty()) {
            waiting.remove().release();
        }
    }
}
