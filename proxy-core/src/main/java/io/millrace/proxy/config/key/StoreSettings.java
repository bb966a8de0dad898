package io.millrace.proxy.config.key;

/**
 * How the cache on disk is written and opened. Immutable.
 *
 * @param syncIntervalMillis longest time that written objects stay unsynced
 * @param segmentBytes the piece of a volume that is written and reclaimed as a whole
 * @param openWaitMillis how long a request waits for a volume's index at the start
 * @param scrubBytesPerSecond what is verified in the background, 0 for nothing
 * @param diskAdmission which new responses a full volume takes
 * @param permitPinning whether pinned responses are taken and kept for that
 */
public record StoreSettings(
        long syncIntervalMillis,
        long segmentBytes,
        long openWaitMillis,
        long scrubBytesPerSecond,
        DiskAdmission diskAdmission,
        boolean permitPinning) {
    /** Which new responses a full volume takes. */
    public enum DiskAdmission {
        /** All. */
        ALWAYS,
        /** Those asked for before. */
        SECOND_HIT,
        /** Those asked for so often that the like of them were of use. */
        FREQUENCY
    }

    public static StoreSettings from(ConfigValues values) {
        return new StoreSettings(
                values.get(ConfigKeys.STORE_SYNC_INTERVAL).toMillis(),
                values.get(ConfigKeys.STORE_SEGMENT_SIZE),
                values.get(ConfigKeys.STORE_OPEN_WAIT).toMillis(),
                values.get(ConfigKeys.STORE_SCRUB_RATE),
                values.get(ConfigKeys.STORE_DISK_ADMISSION),
                values.get(ConfigKeys.CACHE_PERMIT_PINNING));
    }
}
