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
    long http2Connections;
    long http2Connects;
    long http2Streams;
    long http2Requests;
    long http2NotProcessed;
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

    /** Connections of HTTP/2 there are now, which are among the open ones. */
    public long http2Connections() {
        return http2Connections;
    }

    /** Connections of HTTP/2 made so far, which are among those of {@link #connects()}. */
    public long http2Connects() {
        return http2Connects;
    }

    /** Calls under way on streams of HTTP/2 now. */
    public long http2Streams() {
        return http2Streams;
    }

    /** Requests sent by HTTP/2 so far. */
    public long http2Requests() {
        return http2Requests;
    }

    /** HTTP/2 requests that an origin said it had not processed, so far. */
    public long http2NotProcessed() {
        return http2NotProcessed;
    }

    /** Calls that failed for this reason so far. */
    public long failures(OriginFailure.Reason reason) {
        return failures.getOrDefault(reason, 0L);
    }
}
