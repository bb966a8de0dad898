package io.millrace.proxy.admin.history;

import java.io.IOException;
import java.util.List;

/** The source of recorded figures. Thread-safe; reading blocks. */
public interface HistorySource {
    /**
     * The figures of one step of time. Counts are increases within the step. Never modified.
     *
     * @param atSeconds begin of the step, seconds since 1970
     * @param measuredMillis time within the step that was measured; less than the step if no worker answered for a part
     *     of it
     * @param requests answered client requests
     * @param hits requests answered from the store
     * @param sentBytes bytes sent to clients
     * @param originBytes bytes received from origins
     * @param originRequests requests sent to origins
     * @param originFailures requests that origins did not answer
     * @param errors responses with a status of 5xx
     * @param hitLatency requests answered from the store, by bucket of duration
     * @param missLatency requests answered by an origin, by bucket of duration
     * @param originLatency origin requests, by bucket of the time to the head of the response
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Point(
            long atSeconds,
            long measuredMillis,
            long requests,
            long hits,
            long sentBytes,
            long originBytes,
            long originRequests,
            long originFailures,
            long errors,
            long[] hitLatency,
            long[] missLatency,
            long[] originLatency) {}

    /**
     * An archive: figures that were recorded with one length of step. Immutable.
     *
     * @param stepSeconds length of a step
     * @param steps number of steps that it keeps
     */
    record Archive(long stepSeconds, int steps) {
        /** Time that the archive covers, in seconds. */
        public long spanSeconds() {
            return stepSeconds * steps;
        }
    }

    /** Returns the archives, finest first; empty if the history is off. */
    List<Archive> archives();

    /**
     * Returns the recorded steps of an archive, oldest first. Steps without a record are missing.
     *
     * @param stepSeconds step of one of {@link #archives}
     * @param fromSeconds steps that begin at this time or later are returned
     * @param toSeconds end; a step that begins at this time is not included
     * @throws IOException if the file cannot be read
     */
    List<Point> read(long stepSeconds, long fromSeconds, long toSeconds) throws IOException;

    /** Returns the inclusive upper bounds of the latency buckets in microseconds; the last bucket has none. */
    List<Long> boundsMicros();
}
