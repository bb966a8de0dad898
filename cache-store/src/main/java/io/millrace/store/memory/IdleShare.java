package io.millrace.store.memory;

/**
 * The part of a memory budget that is reserved for unused space in chunks. A chunk is a large block of memory from
 * which the allocator takes buffers (a region of a {@link BodyArena}). With this share, whole chunks fit into the
 * budget, and not only the buffers in the chunks.
 *
 * <p>A chunk is released only with its last buffer. Therefore the share grows no faster than buffers are added;
 * faster growth would evict entries but release no chunk. The share is at most half of the budget. For some mixtures of
 * buffer lengths more than half of the chunks is unused; without this limit, the RAM tier would evict everything.
 *
 * <p>Confined to one thread at a time.
 */
final class IdleShare {
    /** Divisor of the budget: the result is the maximum share. */
    private static final int SHARE_MAX_DIVISOR = 2;
    /** Divisor of the budget: the share shrinks if usage is below the budget by more than the result. */
    private static final int SLACK_DIVISOR = 32;
    /** Divisor of the added bytes: the result is the maximum growth of the share in one call. */
    private static final int GROWTH_DIVISOR = 2;

    /** Divisor of the added bytes: the result is the maximum shrinking of the share in one call. */
    private static final int SHRINKING_DIVISOR = 8;

    private final long bytesMax;
    private long bytes;

    /** Creates an empty share of a budget of this many bytes. */
    IdleShare(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    /**
     * Updates the share and returns its new size in bytes.
     *
     * @param usedBytes bytes of all chunks and of heap entries, including unused space in chunks
     * @param addedBytes bytes of buffers added since the last call
     */
    long update(long usedBytes, long addedBytes) {
        long over = usedBytes - bytesMax;
        if (over > 0) {
            bytes = Math.min(bytes + Math.min(over, addedBytes / GROWTH_DIVISOR), bytesMax / SHARE_MAX_DIVISOR);
        } else if (-over > bytesMax / SLACK_DIVISOR) {
            bytes = Math.max(0, bytes - Math.min(-over / 4, addedBytes / SHRINKING_DIVISOR));
        }
        return bytes;
    }
}
