package io.millrace.proxy.fetch.http2;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A queue of response content that arrived while its reader was paused.
 *
 * <p>Small pieces are copied into one buffer, because a slice would keep its whole receive buffer allocated. The
 * stream's receive window limits the queue. Owns the content. Confined to one event loop.
 */
final class UnreadContent {
    /** Longer pieces are kept without copying. */
    private static final int COPIED_BYTES_MAX = 4096;

    /** Initial size of a buffer for copied pieces. */
    private static final int BUFFER_BYTES_MIN = 512;
    /** Maximum size of a buffer for copied pieces. */
    private static final int BUFFER_BYTES = 4 * COPIED_BYTES_MAX;

    private final ArrayDeque<ByteBuf> pieces = new ArrayDeque<>(0);
    /** The last piece, if more bytes may be appended to it. */
    private @Nullable ByteBuf open;

    boolean isEmpty() {
        return pieces.isEmpty();
    }

    /** Appends a part of a buffer. Borrows the buffer. */
    void add(ByteBuf in, int index, int length, ByteBufAllocator allocator) {
        if (length > COPIED_BYTES_MAX) {
            open = null;
            pieces.addLast(in.retainedSlice(index, length));
            return;
        }
        ByteBuf last = open;
        if (last == null || last.maxWritableBytes() < length) {
            last = allocator.buffer(Math.max(length, BUFFER_BYTES_MIN), BUFFER_BYTES);
            open = last;
            pieces.addLast(last);
        }
        last.writeBytes(in, index, length);
    }

    /** Removes and returns the first piece. Do not call if {@link #isEmpty}. Passes ownership. */
    ByteBuf take() {
        ByteBuf first = pieces.removeFirst();
        if (pieces.isEmpty()) {
            open = null;
        }
        return first;
    }

    void release() {
        open = null;
        ByteBuf piece;
        while ((piece = pieces.pollFirst()) != null) {
            piece.release();
        }
    }
}
