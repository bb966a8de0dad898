package io.millrace.proxy.http1;

/**
 * The event that a client's connection waits for, with its deadline. The tick, which is the periodic check of all
 * connections, checks the deadline, so a request neither starts nor cancels a timer. The time begins at the first tick
 * after the wait began. Each check uses the timeout of the settings in force.
 *
 * <p>Confined to one event loop.
 */
final class ConnectionDeadline {
    /** Time in which a client may read the last response after the output was shut down. */
    private static final long LINGER_NANOS = 2_000_000_000L;
    /** The start time is not set yet; the next tick sets it. */
    private static final long UNSET = 0;

    /** The awaited event, which determines the timeout. */
    enum Waiting {
        /** The end of a request's head; before the first request, its first byte. */
        HEADER,
        /** The next request. */
        KEEP_ALIVE,
        /** The request's content. */
        CONTENT,
        /**
         * The end of the exchange (the processing of the request). The exchange has its own deadlines, so this deadline
         * is not enforced.
         */
        RESPONSE,
        /** The client's close of the connection, after the proxy has shut down its output. */
        LINGER
    }

    private Waiting waiting = Waiting.HEADER;
    private long sinceNanos = UNSET;

    /** Begins to wait for another event, or for the same event with a new deadline. */
    void await(Waiting event) {
        waiting = event;
        sinceNanos = UNSET;
    }

    /** Restarts the time until the deadline. */
    void restart() {
        sinceNanos = UNSET;
    }

    Waiting waiting() {
        return waiting;
    }

    boolean isFor(Waiting event) {
        return waiting == event;
    }

    /** Returns true if the time has expired. Starts the time if it has not started. */
    boolean checkExpired(long nowNanos, Http1Settings settings) {
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
