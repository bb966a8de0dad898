package io.millrace.cli.log;

/** Requests that have something in common. Confined to one thread. */
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

    /** How many. */
    public long requests() {
        return requests;
    }

    /** Bytes sent to clients. */
    public long bytes() {
        return bytes;
    }

    /** Mean duration; NaN where the format has none. */
    public double meanMillis() {
        return timed == 0 ? Double.NaN : (double) millis / timed;
    }
}
