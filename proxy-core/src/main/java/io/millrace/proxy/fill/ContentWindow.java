package io.millrace.proxy.fill;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a body that came last, in the chunks that they came in. Owns the chunks; what it gives are references of the receiver's.
 *
 * <pre>
 *   0 ........... start ............................ end
 *   |  dropped    |  oldest chunk | ... | newest     |
 * </pre>
 *
 * <p>Confined to one event loop.
 */
final class ContentWindow {
    /** Chunks that a piece is joined of at most: more than the kernel takes at once would be copied. */
    private static final int JOINED_CHUNKS_MAX = 64;

    /** Some bytes of the body, and those behind them. */
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

    /** Position of the first byte that is kept. */
    long start() {
        return start;
    }

    /** The position after the last byte that came. */
    long end() {
        return end;
    }

    /** Bytes kept. */
    long length() {
        return end - start;
    }

    /** What is dropped next, null when nothing is kept. */
    @Nullable
    Chunk oldest() {
        return oldest;
    }

    /** Adds what came behind the rest; takes ownership. */
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

    /** Forgets the oldest chunk. */
    void drop() {
        Chunk chunk = oldest;
        if (chunk == null) {
            throw new IllegalStateException("an empty window at " + start);
        }
        oldest = chunk.next;
        start = chunk.end;
        if (oldest == null) {
            newest = null;
        }
        // A reader that lags may keep the chunk for long: not what came after it, too.
        chunk.next = null;
        chunk.bytes.release();
    }

    /**
     * The chunk with the byte at this position.
     *
     * @param from one that came no later than that, dropped or not; null when none is known
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

    /** The bytes from the position, which lies in the chunk, as far as {@code until}, or as many of them as one piece may be joined of. */
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
