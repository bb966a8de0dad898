package io.millrace.proxy.exchange.esi;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayDeque;

/**
 * The content of a page: parts of its document and its fragments, in order. Sending consumes the content.
 *
 * <p>Confined to one event loop.
 */
final class PageContent {
    /** A part of an array. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Piece(byte[] bytes, int start, int end) {}

    private final ArrayDeque<Piece> pieces = new ArrayDeque<>();
    /** Number of bytes of the first piece that were already read. */
    private int read;

    private long length;

    /** Appends bytes. Borrows the array, which must not be changed. */
    void add(byte[] bytes, int start, int end) {
        if (end > start) {
            pieces.add(new Piece(bytes, start, end));
            length += end - start;
        }
    }

    /** Bytes that are not read yet. */
    long length() {
        return length;
    }

    /** Returns the next bytes, at most {@code bytesMax}, in a new buffer. */
    ByteBuf next(ByteBufAllocator alloc, int bytesMax) {
        int size = (int) Math.min(bytesMax, length);
        ByteBuf slice = alloc.buffer(size, size);
        while (slice.isWritable()) {
            Piece first = pieces.element();
            int start = first.start() + read;
            int count = Math.min(first.end() - start, slice.writableBytes());
            slice.writeBytes(first.bytes(), start, count);
            read += count;
            if (start + count == first.end()) {
                pieces.remove();
                read = 0;
            }
        }
        length -= size;
        return slice;
    }

    /** Drops the bytes that are not read. */
    void clear() {
        pieces.clear();
        read = 0;
        length = 0;
    }
}
