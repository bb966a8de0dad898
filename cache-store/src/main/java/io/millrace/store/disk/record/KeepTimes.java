package io.millrace.store.disk.record;

/**
 * How long an object is to be kept. Immutable.
 *
 * @param expiry when it stops being worth that, in seconds since the epoch, unsigned; not before its pin ends
 * @param pinnedUntil until when it is pinned, in seconds since the epoch; 0 when it is not
 */
public record KeepTimes(int expiry, long pinnedUntil) {
    /** The times, each held within what a record can tell. */
    public static KeepTimes of(long expiresAtSeconds, long pinnedUntilSeconds) {
        return new KeepTimes((int) within(Math.max(expiresAtSeconds, pinnedUntilSeconds)), within(pinnedUntilSeconds));
    }

    /** Those of a record. */
    public static KeepTimes of(RecordHeader header) {
        return new KeepTimes(header.expiry(), header.pinnedUntil());
    }

    private static long within(long seconds) {
        return Math.max(0, Math.min(seconds, RecordHeader.SECONDS_MAX));
    }
}
