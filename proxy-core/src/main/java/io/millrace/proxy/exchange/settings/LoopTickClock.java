package io.millrace.proxy.exchange.settings;

/**
 * A cached clock for requests that are answered within one iteration of an event loop. The first request reads the wall
 * clock and {@link System#nanoTime}. Later requests get the same wall-clock time, and the timer value that was read at
 * the end of the previous request.
 *
 * <p>Confined to one event loop.
 */
public final class LoopTickClock {
    private final WallClock clock;
    private boolean known;
    private long millis;
    private long nanos;

    public LoopTickClock(WallClock clock) {
        this.clock = clock;
    }

    /** Discards the cached time: the next call of {@link #nanos} reads the clocks. */
    public void forget() {
        known = false;
    }

    /** Sets the timer value that was read at the end of a request. */
    public void advanceTo(long nanos) {
        this.nanos = nanos;
    }

    /** The time as {@link System#nanoTime}, cached. */
    public long nanos() {
        if (!known) {
            known = true;
            millis = clock.millis();
            nanos = System.nanoTime();
        }
        return nanos;
    }

    /** The wall-clock time at the start of the iteration, in epoch milliseconds. Call {@link #nanos} first. */
    public long millis() {
        return millis;
    }
}
