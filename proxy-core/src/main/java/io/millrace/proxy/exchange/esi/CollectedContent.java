package io.millrace.proxy.exchange.esi;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;

/**
 * The content of an ESI document or of a fragment. It is copied to the Java heap while it arrives.
 *
 * <p>Confined to one event loop.
 */
final class CollectedContent {
    private static final byte[] EMPTY = {};

    private final HeldMemory memory;
    private byte[] bytes = EMPTY;
    private int length;
    /** The announced length in bytes; 0 or negative if unknown. */
    private long expected;

    CollectedContent(HeldMemory memory) {
        this.memory = memory;
    }

    /** Number of bytes collected so far. */
    int length() {
        return length;
    }

    /**
     * Sets the announced length, so that the array does not grow beyond it. Reserves no memory yet: an origin may
     * announce much content and send none.
     */
    void expect(long bytesOfContent) {
        expected = bytesOfContent;
    }

    /** Copies a piece. Borrows the buffer. Returns false if there is no memory for it. */
    boolean append(ByteBuf piece) {
        int size = piece.readableBytes();
        int needed = length + size;
        if (needed > bytes.length) {
            long twice = 2L * bytes.length;
            int preferred = (int) Math.max(needed, expected < needed ? twice : Math.min(twice, expected));
            if (!grow(preferred) && !grow(needed)) {
                return false;
            }
        }
        piece.readBytes(bytes, length, size);
        length = needed;
        return true;
    }

    private boolean grow(int size) {
        if (!memory.reserve(size - bytes.length)) {
            return false;
        }
        bytes = Arrays.copyOf(bytes, size);
        return true;
    }

    /** Returns the content and forgets it. Its bytes stay reserved. */
    byte[] take() {
        byte[] taken = bytes;
        if (taken.length > length) {
            taken = Arrays.copyOf(taken, length);
            memory.release(bytes.length - length);
        }
        bytes = EMPTY;
        length = 0;
        return taken;
    }

    /** Drops the content, and releases its memory. */
    void clear() {
        memory.release(bytes.length);
        bytes = EMPTY;
        length = 0;
    }
}
