package io.millrace.proxy.fetch;

import java.util.EnumMap;
import java.util.Map;

/**
 * Counts of one {@link OriginClient}. Plain fields, written by its event loop.
 *
 * <p>Confined to one event loop. Other threads must read the numbers by a task on that loop.
 */
public final class OriginStatistics {

    long connectionsConnecting;
    long connectionsActive;
    long connectionsIdle;
    long callsWaiting;
    long waitsOfLoop;
    long waitsOfProcess;
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

    /** Current number of connections: active and idle. */
    public long connectionsOpen() {
        return connectionsActive + connectionsIdle;
    }

    /** Current number of connections being made. */
    public long connectionsConnecting() {
        return connectionsConnecting;
    }

    /** Current number of connections that carry a call. */
    public long connectionsActive() {
        return connectionsActive;
    }

    /** Current number of idle connections. */
    public long connectionsIdle() {
        return connectionsIdle;
    }

    /** Current number of calls that wait for a connection because their origin has reached its limit. */
    public long callsWaiting() {
        return callsWaiting;
    }

    /** Total number of calls that waited because the limit of connections of their event loop was reached. */
    public long waitsOfLoop() {
        return waitsOfLoop;
    }

    /** Total number of calls that waited because the limit of connections of all event loops was reached. */
    public long waitsOfProcess() {
        return waitsOfProcess;
    }

    /** Total number of calls started. */
    public long requests() {
        return requests;
    }

    /** Total number of connections made. */
    public long connects() {
        return connects;
    }

    /** Total number of failed connection attempts. An attempt counts once, whatever the number of addresses tried. */
    public long connectFailures() {
        return connectFailures;
    }

    /** Total number of requests sent on a connection that had carried another request before. */
    public long reuses() {
        return reuses;
    }

    /** Total number of retried requests. A reused connection had ended, or the origin had not processed the stream. */
    public long retries() {
        return retries;
    }

    /** Current number of HTTP/2 connections, included in the open ones. */
    public long http2Connections() {
        return http2Connections;
    }

    /** Total number of HTTP/2 connections made, included in {@link #connects()}. */
    public long http2Connects() {
        return http2Connects;
    }

    /** Current number of calls on HTTP/2 streams. */
    public long http2Streams() {
        return http2Streams;
    }

    /** Total number of requests sent by HTTP/2. */
    public long http2Requests() {
        return http2Requests;
    }

    /** Total number of HTTP/2 requests that an origin reported as not processed. */
    public long http2NotProcessed() {
        return http2NotProcessed;
    }

    /** Total number of calls that failed for this reason. */
    public long failures(OriginFailure.Reason reason) {
        return failures.getOrDefault(reason, 0L);
    }
}
