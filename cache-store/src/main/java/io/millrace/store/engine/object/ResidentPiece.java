package io.millrace.store.engine.object;

import io.millrace.store.memory.RamEntry;
import io.netty.buffer.ByteBuf;

/**
 * A RAM copy of a piece of a body that is on disk.
 *
 * <p>Thread-safe.
 */
final class ResidentPiece extends RamEntry {
    private final int start;
    private final int length;

    /** Takes ownership of the verified content. The caller holds the first reference to the new piece. */
    ResidentPiece(byte[] keyBytes, long hashLow, ByteBuf content) {
        super(keyBytes, hashLow, content, 0);
        start = content.readerIndex();
        length = content.readableBytes();
    }

    /**
     * Returns a retained slice of at most {@code count} bytes, which starts at byte {@code from} of the piece. The
     * caller holds a reference to this piece.
     */
    ByteBuf slice(int from, int count) {
        return body().retainedSlice(start + from, Math.min(count, length - from));
    }
}
