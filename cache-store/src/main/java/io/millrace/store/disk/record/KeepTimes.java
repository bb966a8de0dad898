package io.millrace.store.disk.record;

/**
 * The expiry and the pin time of an object. Immutable.
 *
 * @param expiry time after which the object need not be kept, in seconds since the epoch, unsigned. Never earlier
 *     than the end of the pin
 * @param pinnedUntil time until which the object is pinned (kept by its volume), in seconds since the epoch; 0 for no
 *     pin
 */
public record KeepTimes(int expiry, long pinnedUntil) {
    /** Creates the times; clamps each to the range of the record fields. */
    public static KeepTimes of(long expiresAtSeconds, long pinnedUntilSeconds) {
        return new KeepTimes((int) within(Math.max(expiresAtSeconds, pinnedUntilSeconds)), within(pinnedUntilSeconds));
    }

    /** Returns the times of a record. */
    public static KeepTimes of(RecordHeader header) {
        return new KeepTimes(header.expiry(), header.pinnedUntil());
    }

    private static long within(long seconds) {
        return Math.max(0, Math.min(seconds, RecordHeader.SECONDS_MAX));
    }
}
