package io.millrace.proxy.exchange;

/**
 * The time within one turn of an event loop, for requests that are answered one after the other: both clocks are read for the first of them, and for
 * the others the time at which the one before was answered counts, which was read anyway.
 *
 * <p>Confined to one event loop.
 */
final class TurnTime {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final WallClock clock;
    private boolean known;
    private long startMillis;
    private long startNanos;
    private long nowNanos;

    TurnTime(WallClock clock) {
        this.clock = clock;
    }

    /** The time is read anew when it is asked for next. */
    void forget() {
        known = false;
    }

    /** What was read from the system's timer since. */
    void passed(long nanos) {
        nowNanos = nanos;
    }

    /** Nanoseconds as the system's timer has them. */
    long nanos() {
        if (!known) {
            known = true;
            startMillis = clock.millis();
            startNanos = System.nanoTime();
            nowNanos = startNanos;
        }
        return nowNanos;
    }

    /** The time of day of {@link #nanos}, which is asked before. */
    long millis() {
        return startMillis + (nowNanos - startNanos) / NANOS_PER_MILLI;
    }
}
