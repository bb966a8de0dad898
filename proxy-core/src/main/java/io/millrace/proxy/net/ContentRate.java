package io.millrace.proxy.net;

/**
 * Measures the rate at which a client sends request content, in consecutive time windows.
 *
 * <p>Time counts only while the proxy reads and waits for the client. A pause by the proxy does not count, for
 * example because the origin is slow. Bytes of the framing count too, such as chunk extensions and trailers.
 *
 * <p>Called by the connection at each tick, a periodic check. Confined to one event loop.
 */
public final class ContentRate {
    private static final long UNSET = 0;
    private static final long SECOND_NANOS = 1_000_000_000L;

    private long sampledAtNanos = UNSET;
    /** Time of the current window without pauses, in nanoseconds. */
    private long countedNanos;

    private long bytes;
    private boolean paused;

    /** Begins the content of another request. */
    public void begin() {
        sampledAtNanos = UNSET;
        countedNanos = 0;
        bytes = 0;
        paused = false;
    }

    /** Counts received bytes. */
    public void received(int count) {
        bytes += count;
    }

    /** Records that the proxy stops reading. The time from the last sample to the next one does not count. */
    public void pause() {
        paused = true;
    }

    /**
     * Takes a sample. Returns true at the end of a window whose rate was too low.
     *
     * @param counts whether the proxy waits for the client to send content
     * @param bytesPerSecond minimum rate; 0 for none
     */
    public boolean checkTooSlow(long nowNanos, boolean counts, long bytesPerSecond, long windowNanos) {
        long elapsedNanos = nowNanos - sampledAtNanos;
        boolean first = sampledAtNanos == UNSET;
        boolean skipped = first || paused || !counts || bytesPerSecond <= 0;
        sampledAtNanos = nowNanos;
        paused = false;
        if (skipped) {
            return false;
        }
        countedNanos += elapsedNanos;
        if (countedNanos < windowNanos) {
            return false;
        }
        boolean tooSlow = bytes < (double) bytesPerSecond * countedNanos / SECOND_NANOS;
        countedNanos = 0;
        bytes = 0;
        return tooSlow;
    }
}
