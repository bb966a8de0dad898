package io.millrace.store.memory;

/**
 * The part of a budget that is reserved for chunks that are not full. It keeps the chunks, not only the buffers in
 * them, within the budget.
 *
 * <p>A chunk is released with its last buffer. Therefore the share grows no faster than buffers are replaced; a faster
 * growth would evict entries without a gain. It is at most half of the budget. Some mixtures of lengths leave more than
 * half idle, and a tier that released all of that would end up empty.
 *
 * <p>Confined to one thread at a time.
 */
final class IdleShare {
    private static final int SHARE_MAX = 2;
    /** Divisor: the share shrinks if usage is below the budget by more than this fraction. */
    private static final int SLACK_SHARE = 32;
    /** Divisors of the replaced bytes: maximum growth and maximum shrinking of the share. */
    private static final int GROWTH_SHARE = 2;

    private static final int SHRINKING_SHARE = 8;

    private final long bytesMax;
    private long bytes;

    /** Creates an empty share of that budget. */
    IdleShare(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    /**
     * Returns the new size of the share.
     *
     * @param usedBytes used bytes of the budget, including idle ones
     * @param replacedBytes bytes of buffers added since the last call
     */
    long next(long usedBytes, long replacedBytes) {
        long over = usedBytes - bytesMax;
        if (over > 0) {
            bytes = Math.min(bytes + Math.min(over, replacedBytes / GROWTH_SHARE), bytesMax / SHARE_MAX);
        } else if (-over > bytesMax / SLACK_SHARE) {
            bytes = Math.max(0, bytes - Math.min(-over / 4, replacedBytes / SHRINKING_SHARE));
        }
        return bytes;
    }
}
