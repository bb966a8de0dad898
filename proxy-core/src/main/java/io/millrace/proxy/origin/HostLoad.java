package io.millrace.proxy.origin;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What one event loop has to do with one host. Written by that loop only, by opaque stores, so that another thread reads whole
 * values that are at most a moment old.
 */
public final class HostLoad {
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int PADDING = 8;
    private static final int UNDER_WAY = PADDING;
    private static final int REQUESTS = PADDING + 1;
    private static final int FAILURES = PADDING + 2;
    private static final int LATENCY = PADDING + 3;
    private static final int ANSWERED = PADDING + 4;
    private static final int FAILED = PADDING + 5;
    private static final int VERSION = PADDING + 6;
    private static final int VALUES = 7;

    /** A new latency counts for an eighth, as the smoothed round-trip time of TCP does (RFC 6298). */
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

    /** A response came that is no failure. */
    void answered(int version, long nowMillis) {
        LONGS.setOpaque(values, VERSION, (long) version);
        LONGS.setOpaque(values, ANSWERED, nowMillis);
    }

    /** The head of a response came. */
    void responded(long nanos) {
        long before = values[LATENCY];
        LONGS.setOpaque(values, LATENCY, before == 0 ? nanos : before + ((nanos - before) >> SHIFT));
    }

    private void add(int index, long amount) {
        LONGS.setOpaque(values, index, values[index] + amount);
    }

    /** Requests that are neither answered whole nor failed. */
    public int underWay() {
        return (int) read(UNDER_WAY);
    }

    /** Requests sent, retries among them. */
    public long requests() {
        return read(REQUESTS);
    }

    /** How many of them failed, or were answered by what counts as a failure. */
    public long failures() {
        return read(FAILURES);
    }

    /** Smoothed time from a request to the head of its response; 0 before the first. */
    public long latencyNanos() {
        return read(LATENCY);
    }

    /** When it answered last, in epoch milliseconds; 0 when it has not. */
    long answeredMillis() {
        return read(ANSWERED);
    }

    /** When it failed last, in epoch milliseconds; 0 when it has not. */
    long failedMillis() {
        return read(FAILED);
    }

    /** Of the HTTP/1 that it answered in last. */
    int version() {
        return (int) read(VERSION);
    }

    private long read(int index) {
        return (long) LONGS.getOpaque(values, index);
    }
}
