package io.millrace.proxy.http1;

/**
 * What a client's connection waits for, in either lane, and until when: looked at by the connection set's tick, so that a request neither
 * starts nor cancels a timer. The time begins at the first tick after the waiting began, and is over by the settings that hold then.
 *
 * <p>Confined to one event loop.
 */
final class ConnectionDeadline {
    /** How long a connection lingers: the time in which a client may read the last answer. */
    private static final long LINGER_NANOS = 2_000_000_000L;
    /** A beginning that the next tick sets. */
    private static final long UNSET = 0;

    /** What is waited for, and so which timeout holds. */
    enum Waiting {
        /** A request's head, or the first byte of the first one. */
        HEADER,
        /** The next request. */
        KEEP_ALIVE,
        /** The request's content. */
        CONTENT,
        /** The exchange: its own deadlines hold, not this one. */
        RESPONSE,
        /** The client's end of the connection, after ours. */
        LINGER
    }

    private Waiting waiting = Waiting.HEADER;
    private long sinceNanos = UNSET;

    /** Waits for something else, or for the same thing with a new deadline. */
    void await(Waiting what) {
        waiting = what;
        sinceNanos = UNSET;
    }

    /** Restarts the time. */
    void restart() {
        sinceNanos = UNSET;
    }

    Waiting waiting() {
        return waiting;
    }

    boolean isFor(Waiting what) {
        return waiting == what;
    }

    /** Whether the time is over; begins it where it has not begun. */
    boolean isOver(long nowNanos, Http1Settings settings) {
        if (sinceNanos == UNSET) {
            sinceNanos = nowNanos;
            return false;
        }
        return nowNanos - sinceNanos >= timeoutNanos(settings);
    }

    private long timeoutNanos(Http1Settings settings) {
        return switch (waiting) {
            case HEADER -> settings.headerTimeoutNanos();
            case KEEP_ALIVE -> settings.keepAliveTimeoutNanos();
            case CONTENT -> settings.contentTimeoutNanos();
            case RESPONSE -> settings.sendTimeoutNanos();
            case LINGER -> LINGER_NANOS;
        };
    }
}
