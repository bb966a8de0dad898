package io.millrace.proxy.config.key;

/**
 * Settings of the stored responses in RAM and on disk. Immutable.
 *
 * @param syncIntervalMillis longest time that written objects stay unsynced
 * @param segmentBytes size of a segment, the part of a volume that is written and reclaimed as a whole
 * @param openWaitMillis how long a request waits at the start for a volume's index
 * @param scrubBytesPerSecond rate of the background verification; 0 for none
 * @param ramAdmission which new responses the RAM tier keeps
 * @param diskAdmission which new responses a full volume admits
 * @param permitPinning whether the disk keeps pinned responses, for which a rule sets a minimum storage time
 * @param simulatesSizes whether the hit ratios of other sizes of the RAM tier are estimated
 */
public record StoreSettings(
        long syncIntervalMillis,
        long segmentBytes,
        long openWaitMillis,
        long scrubBytesPerSecond,
        RamAdmission ramAdmission,
        DiskAdmission diskAdmission,
        boolean permitPinning,
        boolean simulatesSizes) {
    /** Which new responses a full volume admits. */
    public enum DiskAdmission {
        /** All responses. */
        ALWAYS,
        /** Responses that were requested before. */
        SECOND_HIT,
        /** Responses requested so often that another request is likely. */
        FREQUENCY
    }

    /** Which new responses the RAM tier keeps. */
    public enum RamAdmission {
        /** All responses; the least recently requested one is evicted. */
        ALWAYS,
        /** Responses requested more often than those that they displace. */
        FREQUENCY
    }

    /** Returns true if the RAM tier keeps every new response. */
    public boolean ramAdmitsAll() {
        return ramAdmission == RamAdmission.ALWAYS;
    }

    public static StoreSettings from(ConfigValues values) {
        return new StoreSettings(
                values.get(ConfigKeys.STORE_SYNC_INTERVAL).toMillis(),
                values.get(ConfigKeys.STORE_SEGMENT_SIZE),
                values.get(ConfigKeys.STORE_OPEN_WAIT).toMillis(),
                values.get(ConfigKeys.STORE_SCRUB_RATE),
                values.get(ConfigKeys.CACHE_RAM_ADMISSION),
                values.get(ConfigKeys.STORE_DISK_ADMISSION),
                values.get(ConfigKeys.CACHE_PERMIT_PINNING),
                values.get(ConfigKeys.CACHE_CURVE));
    }
}
