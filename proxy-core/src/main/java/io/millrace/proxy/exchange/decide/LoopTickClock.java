package io.millrace.proxy.exchange.decide;

/**
 * The time within one turn of an event loop, for requests that are answered one after the other: both clocks are read for the first of them. For
 * the others the same time of day counts, and of the timer what it said when the one before was answered, which was read anyway.
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

    /** The time is read again when it is asked for next. */
    public void forget() {
        known = false;
    }

    /** What was read from the system's timer since. */
    public void passed(long nanos) {
        this.nanos = nanos;
    }

    /** Nanoseconds as the system's timer has them. */
    public long nanos() {
        if (!known) {
            known = true;
            millis = clock.millis();
            nanos = System.nanoTime();
        }
        return nanos;
    }

    /** The time of day at which the turn began; {@link #nanos} is asked before. */
    public long millis() {
        return millis;
    }
}
