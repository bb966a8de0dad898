package io.millrace.proxy.net;

/**
 * The rate at which a client sends the content of one request, measured in windows.
 *
 * <p>Time counts only while the proxy reads and it is the client's turn to send. A pause by the proxy does not count,
 * such as a pause because the origin is slow. All bytes of the content's framing count, so chunk extensions and
 * trailers are measured too.
 *
 * <p>Sampled by the connection's tick. Confined to one event loop.
 */
public final class ContentRate {
    private static final long UNSET = 0;
    private static final long SECOND_NANOS = 1_000_000_000L;

    private long lookedAtNanos = UNSET;
    /** Counted time of the current window. */
    private long countedNanos;

    private long bytes;
    private boolean paused;

    /** Begins the content of another request. */
    public void begin() {
        lookedAtNanos = UNSET;
        countedNanos = 0;
        bytes = 0;
        paused = false;
    }

    /** Counts received bytes. */
    public void received(int count) {
        bytes += count;
    }

    /** Notes that the proxy stops reading: the time from the last sample to the next does not count. */
    public void pause() {
        paused = true;
    }

    /**
     * Takes a sample. At the end of a window, returns whether the rate was too low, and starts the next window.
     *
     * @param counts whether it is the client's turn to send
     * @param bytesPerSecond minimum rate; 0 for none
     */
    public boolean isTooSlow(long nowNanos, boolean counts, long bytesPerSecond, long windowNanos) {
        long since = nowNanos - lookedAtNanos;
        boolean first = lookedAtNanos == UNSET;
        boolean skipped = first || paused || !counts || bytesPerSecond <= 0;
        lookedAtNanos = nowNanos;
        paused = false;
        if (skipped) {
            return false;
        }
        countedNanos += since;
        if (countedNanos < windowNanos) {
            return false;
        }
        boolean tooSlow = bytes < (double) bytesPerSecond * countedNanos / SECOND_NANOS;
        countedNanos = 0;
        bytes = 0;
        return tooSlow;
    }
}
