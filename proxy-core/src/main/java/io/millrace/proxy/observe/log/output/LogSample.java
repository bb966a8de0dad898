package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.observe.log.LoggedRecord;

/**
 * Selects one of every N lines of a log. Confined to the dispatcher thread.
 *
 * <p>A sample by URL or client uses a hash that is the same in all processes and after restarts. Either all
 * requests of a client or URL are logged, or none.
 */
final class LogSample {
    private final int rate;
    private final SampleBy sampleBy;
    /** Number of records since the last selected record. The first record is selected. */
    private int skipped;

    LogSample(int rate, SampleBy sampleBy) {
        this.rate = rate;
        this.sampleBy = sampleBy;
        skipped = rate - 1;
    }

    /** Returns true if the record is part of the sample. */
    boolean includes(LoggedRecord logged) {
        if (rate == 1) {
            return true;
        }
        return switch (sampleBy) {
            case REQUEST -> selectNext();
            case URL -> Integer.remainderUnsigned(logged.urlHash(), rate) == 0;
            case CLIENT -> Integer.remainderUnsigned(logged.clientHash(), rate) == 0;
        };
    }

    /** Counts a record. Returns true for the first record and every {@code rate}-th record after it. */
    private boolean selectNext() {
        skipped++;
        if (skipped < rate) {
            return false;
        }
        skipped = 0;
        return true;
    }
}
