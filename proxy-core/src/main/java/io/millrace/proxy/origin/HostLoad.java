package io.millrace.proxy.origin;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The counters of one event loop for one origin host. Only that loop writes them, with opaque stores. Other
 * threads read complete values that may be slightly outdated.
 */
public final class HostLoad {
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    /** Unused elements before and after the values, so that no other data shares their cache lines. */
    private static final int PADDING = 8;

    private static final int UNDER_WAY = PADDING;
    private static final int REQUESTS = PADDING + 1;
    private static final int FAILURES = PADDING + 2;
    private static final int LATENCY = PADDING + 3;
    private static final int ANSWERED = PADDING + 4;
    private static final int FAILED = PADDING + 5;
    private static final int VERSION = PADDING + 6;
    private static final int VALUES = 7;

    /**
     * Smoothing shift of latencies. A new value has a weight of 1/8, as in the smoothed round-trip time of TCP (RFC
     * 6298).
     */
    private static final int SHIFT = 3;

    private final long[] values = new long[2 * PADDING + VALUES];

    HostLoad() {}

    void began() {
        add(UNDER_WAY, 1);
        add(REQUESTS, 1);
    }

    void ended() {
        add(UNDER_WAY, -1);
    }

    void failed(long nowMillis) {
        add(FAILURES, 1);
        LONGS.setOpaque(values, FAILED, nowMillis);
    }

    /** Records a response that is not a failure. */
    void answered(int version, long nowMillis) {
        LONGS.setOpaque(values, VERSION, (long) version);
        LONGS.setOpaque(values, ANSWERED, nowMillis);
    }

    /** Records the latency of a response head. */
    void responded(long nanos) {
        long before = values[LATENCY];
        LONGS.setOpaque(values, LATENCY, before == 0 ? nanos : before + ((nanos - before) >> SHIFT));
    }

    private void add(int index, long amount) {
        LONGS.setOpaque(values, index, values[index] + amount);
    }

    /** Number of requests in progress: neither completed nor failed. */
    public int underWay() {
        return (int) read(UNDER_WAY);
    }

    /** Number of requests sent, including retries. */
    public long requests() {
        return read(REQUESTS);
    }

    /** Number of requests that failed, or whose response counts as a failure. */
    public long failures() {
        return read(FAILURES);
    }

    /** Smoothed time from a request to its response head; 0 until the first response. */
    public long latencyNanos() {
        return read(LATENCY);
    }

    /** Time of the last response that was no failure, in epoch milliseconds; 0 if there was none. */
    long answeredMillis() {
        return read(ANSWERED);
    }

    /** Time of the last failure, in epoch milliseconds; 0 if there was none. */
    long failedMillis() {
        return read(FAILED);
    }

    /** HTTP version of the last response that was no failure: see {@link HostHistory#version}. */
    int version() {
        return (int) read(VERSION);
    }

    private long read(int index) {
        return (long) LONGS.getOpaque(values, index);
    }
}
