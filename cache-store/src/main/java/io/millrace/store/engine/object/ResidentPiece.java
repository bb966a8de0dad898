package io.millrace.store.engine.object;

import io.millrace.store.memory.RamEntry;
import io.netty.buffer.ByteBuf;

/**
 * A piece in RAM of a body on disk.
 *
 * <p>Thread-safe.
 */
final class ResidentPiece extends RamEntry {
    private final int start;
    private final int length;

    /** Takes ownership of the content, which was verified; the caller holds the first reference. */
    ResidentPiece(byte[] keyBytes, long hashLow, ByteBuf content) {
        super(keyBytes, hashLow, content, 0);
        start = content.readerIndex();
        length = content.readableBytes();
    }

    /**
     * Returns at most {@code count} bytes from {@code from} on, retained for the caller, who holds a reference to this
     * piece.
     */
    ByteBuf slice(int from, int count) {
        return body().retainedSlice(start + from, Math.min(count, length - from));
    }
}
