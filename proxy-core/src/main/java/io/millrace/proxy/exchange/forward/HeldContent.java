package io.millrace.proxy.exchange.forward;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * The beginning of a request's content. It is held until enough has arrived to justify occupying an origin connection.
 *
 * <p>Pieces are copied into one buffer, because each piece without a copy would keep the whole receive buffer
 * allocated. Owns that buffer until it is {@link #take taken} or {@link #drop dropped}. Confined to one event loop.
 */
public final class HeldContent {
    /** The budget in bytes for the held content of all requests of one event loop. Confined to that loop. */
    public static final class Budget {
        /**
         * Limit of held bytes. It suffices for 256 requests with the default of origin.request_buffer, or for 65,536
         * requests that have sent a few bytes.
         */
        static final int BYTES_MAX = 16 << 20;

        private long bytes;

        private boolean isSpent() {
            return bytes >= BYTES_MAX;
        }

        /** Bytes of buffers in use now. */
        long bytes() {
            return bytes;
        }
    }

    private static final int FIRST_BYTES = 256;

    private final ByteBufAllocator allocator;
    private final Budget budget;
    private final int bytesMax;
    private @Nullable ByteBuf buffer;
    /** Capacity of the buffer, as counted in the budget. */
    private int capacity;

    /** @param bytesMax number of bytes from which the request is started */
    public HeldContent(ByteBufAllocator allocator, Budget budget, int bytesMax) {
        this.allocator = allocator;
        this.budget = budget;
        this.bytesMax = bytesMax;
    }

    /**
     * Adds a piece; takes ownership.
     *
     * @return false if the request should start now: enough bytes are held, or the budget is spent
     */
    public boolean add(ByteBuf piece) {
        try {
            ByteBuf into = buffer;
            if (into == null) {
                into = allocator.buffer(FIRST_BYTES);
                buffer = into;
            }
            into.writeBytes(piece);
            budget.bytes += into.capacity() - capacity;
            capacity = into.capacity();
            return into.readableBytes() < bytesMax && !budget.isSpent();
        } finally {
            piece.release();
        }
    }

    /** Returns the held content; null for none. Hands over ownership. */
    public @Nullable ByteBuf take() {
        ByteBuf taken = buffer;
        buffer = null;
        budget.bytes -= capacity;
        capacity = 0;
        return taken;
    }

    public void drop() {
        ByteBuf dropped = take();
        if (dropped != null) {
            dropped.release();
        }
    }
}
