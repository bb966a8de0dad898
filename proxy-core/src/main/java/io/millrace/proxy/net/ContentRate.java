package io.millrace.proxy.net;

/**
 * The rate at which a client sends the content of one request, measured in windows.
 *
 * <p>Time counts only while the proxy reads and the client is the one to send: a pause of the proxy's own, because the origin takes
 * no more, is no fault of the client. All bytes of the content's framing count, so chunk extensions and trailers have the same clock.
 *
 * <p>Looked at by the connection's tick. Confined to one event loop.
 */
public final class ContentRate {
    private static final long UNSET = 0;
    private static final long SECOND_NANOS = 1_000_000_000L;

    private long lookedAtNanos = UNSET;
    /** Time of the window that has counted. */
    private long countedNanos;

    private long bytes;
    private boolean paused;

    /** The content of another request begins. */
    public void begin() {
        lookedAtNanos = UNSET;
        countedNanos = 0;
        bytes = 0;
        paused = false;
    }

    /** Bytes came. */
    public void received(int count) {
        bytes += count;
    }

    /** The proxy stops reading: the time since the last look, and until the next, does not count. */
    public void pause() {
        paused = true;
    }

    /**
     * Ends the window where its time is over, and tells whether less came in it than has to.
     *
     * @param counts whether the client is the one to send now
     * @param bytesPerSecond least rate; 0 for none
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
