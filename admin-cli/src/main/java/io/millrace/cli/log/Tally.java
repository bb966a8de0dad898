package io.millrace.cli.log;

/** Totals of a group of requests. Confined to one thread. */
public final class Tally {
    private long requests;
    private long bytes;
    private long timed;
    private long millis;

    void add(LogLine line) {
        requests++;
        bytes += line.bytes();
        if (line.durationMillis() >= 0) {
            timed++;
            millis += line.durationMillis();
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

    /** The mean duration; NaN if the log format has none. */
    public double meanMillis() {
        return timed == 0 ? Double.NaN : (double) millis / timed;
    }
}
