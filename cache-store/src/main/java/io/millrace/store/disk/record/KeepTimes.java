package io.millrace.store.disk.record;

/**
 * The expiry of an object and the end of its pin. Immutable.
 *
 * @param expiry time after which the object need not be kept, in seconds since the epoch, unsigned. Never earlier
 *     than the end of the pin
 * @param pinnedUntil end of the object's pin, in seconds since the epoch; 0 for no pin. Its volume keeps the object
 *     until then
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
