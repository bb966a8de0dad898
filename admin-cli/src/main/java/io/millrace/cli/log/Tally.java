package io.millrace.cli.log;

/**
 * Totals over a group of requests: number, bytes and mean duration. A line of a sampled log counts as often as the
 * number of requests that it represents. Confined to one thread.
 */
public final class Tally {
    private long requests;
    private long bytes;
    private long timedRequests;
    private long totalMillis;

    void add(LogLine line) {
        long weight = line.sample();
        requests += weight;
        bytes += weight * line.bytes();
        if (line.durationMillis() >= 0) {
            timedRequests += weight;
            totalMillis += weight * line.durationMillis();
        }
    }

    /** The number of requests. */
    public long requests() {
        return requests;
    }

    /** The number of bytes sent to clients. */
    public long bytes() {
        return bytes;
    }

    /** Returns the mean duration in milliseconds; NaN if the log format has no duration. */
    public double meanMillis() {
        return timedRequests == 0 ? Double.NaN : (double) totalMillis / timedRequests;
    }
}
