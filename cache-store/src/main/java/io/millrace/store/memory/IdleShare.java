package io.millrace.store.memory;

/**
 * How much of a budget is kept for chunks that are not full, so that chunks and not only what is in them stay within it.
 *
 * <p>A chunk goes back when the last buffer in it does. So the share grows no faster than buffers are replaced: those who
 * hold what they have would give it up for nothing. And it is at most half: there are mixtures of lengths of which more
 * than that is idle, and a tier that gave way to all of it would end empty.
 *
 * <p>Confined to one thread at a time.
 */
final class IdleShare {
    private static final int SHARE_MAX = 2;
    /** Below the budget by more than that part of it the share shrinks. */
    private static final int SLACK_SHARE = 32;
    /** Of what is replaced, by how much the share grows, or shrinks, at most. */
    private static final int GROWTH_SHARE = 2;

    private static final int SHRINKING_SHARE = 8;

    private final long bytesMax;
    private long bytes;

    /** An empty share of a budget of {@code bytesMax}. */
    IdleShare(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    /**
     * What is kept from now on.
     *
     * @param usedBytes of the budget, idle or not
     * @param replacedBytes of buffers that were put in since this was last asked
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
