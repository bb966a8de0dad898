package io.millrace.proxy.observe;

import java.util.List;

/**
 * The metrics of the cache's tiers, the store, its volumes and the inventory. Immutable.
 *
 * <p>The inventory is the table of stored objects.
 */
public enum StorageMetric implements Metric {
    CACHE_BYTES(
            "millrace_cache_bytes",
            Kind.GAUGE,
            "bytes",
            "Bytes in use in a tier of the cache; a full tier is normal.",
            "tier",
            "volume"),
    CACHE_BYTES_MAX(
            "millrace_cache_max_bytes",
            Kind.GAUGE,
            "bytes",
            "Size of a tier of the cache as configured.",
            "tier",
            "volume"),
    CACHE_ENTRIES(
            "millrace_cache_entries",
            Kind.GAUGE,
            "entries",
            "Stored responses in a tier of the cache.",
            "tier",
            "volume"),
    CACHE_EVICTIONS(
            "millrace_cache_evictions_total",
            Kind.COUNTER,
            "entries",
            "Stored responses that left a tier to make room; if the rate is high compared with"
                    + " millrace_fills_total, a larger tier helps.",
            "tier",
            "volume"),
    CACHE_ERRORS(
            "millrace_cache_errors_total",
            Kind.COUNTER,
            "errors",
            "Failed reads and writes of a cache volume; any growth means that the disk needs replacing.",
            "volume"),
    CACHE_CURVE_HIT_RATIO(
            "millrace_cache_curve_hit_ratio",
            Kind.GAUGE,
            "ratio",
            "Estimated hit ratio of a RAM tier of another size, such as x2 for twice the present size; only with"
                    + " cache.curve: true.",
            "size"),
    CACHE_CURVE_LOST(
            "millrace_cache_curve_lost_total",
            Kind.COUNTER,
            "requests",
            "Sampled requests that the estimate of cache.curve left out, because more than 1,000 per second were"
                    + " sampled."),
    STORE_SCRUBBED_BYTES(
            "millrace_store_scrubbed_bytes_total",
            Kind.COUNTER,
            "bytes",
            "Bytes of stored records verified in the background; store.scrub_rate sets the rate."),
    STORE_DAMAGED_RECORDS(
            "millrace_store_damaged_records_total",
            Kind.COUNTER,
            "records",
            "Damaged records that were removed from the cache, by the part of the program that found them. A few"
                    + " after a power failure are normal; more mean that a disk needs to be replaced.",
            "found_by"),
    STORE_REFUSED(
            "millrace_store_refused_total",
            Kind.COUNTER,
            "requests",
            "Operations that the store refused because a list was full: removals while one worker replaces another,"
                    + " fetches of a missing block, and waits for a block. If a removal was refused, repeat the"
                    + " purge.",
            "what"),
    VOLUME_ONLINE(
            "millrace_volume_online",
            Kind.GAUGE,
            "boolean",
            "1 while the volume is in use, 0 while it is offline; millctl storage status shows the reason.",
            "volume"),
    VOLUME_WRITTEN(
            "millrace_volume_written_bytes_total",
            Kind.COUNTER,
            "bytes",
            "Bytes of records written to the volume. Write amplification is written / (written - carried).",
            "volume"),
    VOLUME_CARRIED(
            "millrace_volume_carried_bytes_total",
            Kind.COUNTER,
            "bytes",
            "Part of the written bytes: records of stored responses copied from a segment before it was overwritten.",
            "volume"),
    VOLUME_RECLAIMED(
            "millrace_volume_reclaimed_segments_total",
            Kind.COUNTER,
            "segments",
            "Segments of the volume that were reclaimed to make room.",
            "volume"),
    VOLUME_REFUSED(
            "millrace_volume_refused_total",
            Kind.COUNTER,
            "entries",
            "New responses that the full volume did not store, because of store.disk_admission.",
            "volume"),
    VOLUME_PINNED(
            "millrace_volume_pinned_bytes",
            Kind.GAUGE,
            "bytes",
            "Bytes of responses that a rule pinned; replaced and purged responses count until their"
                    + " segment is reclaimed.",
            "volume"),
    VOLUME_PINS_BROKEN(
            "millrace_volume_pins_broken_total",
            Kind.COUNTER,
            "entries",
            "Records of pinned responses that were removed, because more was pinned than the volume can keep; pin"
                    + " less or add storage.",
            "volume"),
    VOLUME_INDEX_EVICTIONS(
            "millrace_volume_index_evictions_total",
            Kind.COUNTER,
            "entries",
            "Stored responses removed because the volume's index was full and could not grow; if this grows, free"
                    + " space on the disk of the storage path.",
            "volume"),
    INVENTORY_ENTRIES(
            "millrace_inventory_entries",
            Kind.GAUGE,
            "entries",
            "Entries of the inventory that millctl cache list reads, including those of objects that are no longer"
                    + " stored; these go when their segment is reclaimed."),
    INVENTORY_BYTES("millrace_inventory_bytes", Kind.GAUGE, "bytes", "Bytes of the inventory's files."),
    INVENTORY_DROPPED(
            "millrace_inventory_dropped_total",
            Kind.COUNTER,
            "entries",
            "Entries that could not be kept in memory or written; they are read from the stored objects later.");

    @SuppressWarnings("ImmutableEnumChecker") // a record of immutable values
    private final Definition definition;

    StorageMetric(String metricName, Kind kind, String unit, String description, String... labels) {
        definition = new Definition(metricName, kind, unit, description, List.of(labels));
    }

    @Override
    public Definition definition() {
        return definition;
    }
}
