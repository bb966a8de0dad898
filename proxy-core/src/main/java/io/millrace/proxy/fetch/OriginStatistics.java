package io.millrace.proxy.fetch;

import java.util.EnumMap;
import java.util.Map;

/**
 * Counts of one {@link OriginClient}: plain numbers, written by its event loop.
 *
 * <p>Confined to one event loop. A reader on another thread asks that loop for its numbers.
 */
public final class OriginStatistics {

    long connectionsConnecting;
    long connectionsActive;
    long connectionsIdle;
    long callsWaiting;
    long requests;
    long connects;
    long connectFailures;
    long reuses;
    long retries;
    private final Map<OriginFailure.Reason, Long> failures = new EnumMap<>(OriginFailure.Reason.class);

    OriginStatistics() {}

    void failed(OriginFailure.Reason reason) {
        failures.merge(reason, 1L, Long::sum);
    }

    /** Connections there are now: active and idle. */
    public long connectionsOpen() {
        return connectionsActive + connectionsIdle;
    }

    /** Connections being made now. */
    public long connectionsConnecting() {
        return connectionsConnecting;
    }

    /** Connections that carry a call now. */
    public long connectionsActive() {
        return connectionsActive;
    }

    /** Connections kept for the next call now. */
    public long connectionsIdle() {
        return connectionsIdle;
    }

    /** Calls that wait for a connection now because their origin has as many as it may. */
    public long callsWaiting() {
        return callsWaiting;
    }

    /** Calls started so far. */
    public long requests() {
        return requests;
    }

    /** Connections made so far. */
    public long connects() {
        return connects;
    }

    /** Attempts to connect that failed so far, each counted once however many addresses were tried. */
    public long connectFailures() {
        return connectFailures;
    }

    /** Requests sent on a connection that had served another before. */
    public long reuses() {
        return reuses;
    }

    /** Requests repeated on a fresh connection because a reused one had ended. */
    public long retries() {
        return retries;
    }

    /** Calls that failed for this reason so far. */
    public long failures(OriginFailure.Reason reason) {
        return failures.getOrDefault(reason, 0L);
    }
}
