package io.millrace.proxy.fill;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A window over the most recently received bytes of a body, as a linked list of received chunks. Owns the chunks. Each
 * returned buffer holds its own reference. The caller must release it.
 *
 * <pre>
 *   0 ........... start ............................ end
 *   |  dropped    |  oldest chunk | ... | newest     |
 * </pre>
 *
 * <p>Confined to one event loop.
 */
final class ContentWindow {
    /**
     * Limit of chunks in one returned buffer. A gathering write of more chunks would copy them, because the kernel
     * limits the number of buffers in one call.
     */
    private static final int JOINED_CHUNKS_MAX = 64;

    /** A chunk of the body, linked to the next one. */
    static final class Chunk {
        private final long start;
        private final long end;
        private final ByteBuf bytes;
        private @Nullable Chunk next;

        private Chunk(long start, ByteBuf bytes) {
            this.start = start;
            this.end = start + bytes.readableBytes();
            this.bytes = bytes;
        }

        /** Position of the first byte. */
        long start() {
            return start;
        }

        /** The position after the last byte. */
        long end() {
            return end;
        }
    }

    private @Nullable Chunk oldest;
    private @Nullable Chunk newest;
    private long start;
    private long end;

    /** Position of the first byte in the window. */
    long start() {
        return start;
    }

    /** The position after the last received byte. */
    long end() {
        return end;
    }

    /** Number of bytes in the window. */
    long length() {
        return end - start;
    }

    /** The chunk to drop next; null when the window is empty. */
    @Nullable
    Chunk oldest() {
        return oldest;
    }

    /** Appends received bytes. Takes ownership. */
    void add(ByteBuf content) {
        Chunk chunk = new Chunk(end, content);
        if (newest == null) {
            oldest = chunk;
        } else {
            newest.next = chunk;
        }
        newest = chunk;
        end = chunk.end;
    }

    /** Drops the oldest chunk. */
    void drop() {
        Chunk chunk = oldest;
        if (chunk == null) {
            throw new IllegalStateException("drop() of an empty content window, position=" + start);
        }
        oldest = chunk.next;
        start = chunk.end;
        if (oldest == null) {
            newest = null;
        }
        // A lagging reader may reference the dropped chunk for a long time. Through its link it would keep all later
        // chunks reachable.
        chunk.next = null;
        chunk.bytes.release();
    }

    /**
     * Returns the chunk that contains the byte at this position.
     *
     * @param from a chunk at or before the position, dropped or not; null when unknown
     */
    Chunk at(long position, @Nullable Chunk from) {
        Chunk chunk = position < start ? null : from == null || from.start < start ? oldest : from;
        while (chunk != null && chunk.end <= position) {
            chunk = chunk.next;
        }
        if (chunk == null) {
            throw new IllegalStateException("no chunk at " + position + " of window " + start + "-" + end);
        }
        return chunk;
    }

    /**
     * Returns the bytes from a position in {@code first} up to {@code until}, or fewer if they span too many chunks.
     */
    static ByteBuf piece(Chunk first, long position, long until) {
        if (until <= first.end) {
            return slice(first, position, until);
        }
        List<ByteBuf> parts = new ArrayList<>();
        for (Chunk at = first; at != null && at.start < until && parts.size() < JOINED_CHUNKS_MAX; at = at.next) {
            parts.add(slice(at, Math.max(position, at.start), until));
        }
        return Unpooled.wrappedBuffer(parts.size(), parts.toArray(new ByteBuf[0]));
    }

    private static ByteBuf slice(Chunk chunk, long from, long until) {
        int skip = (int) (from - chunk.start);
        int length = (int) (Math.min(until, chunk.end) - from);
        return chunk.bytes.retainedSlice(chunk.bytes.readerIndex() + skip, length);
    }
}
