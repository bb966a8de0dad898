package io.millrace.proxy.server;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.clients.RateTable;
import io.millrace.proxy.dictionary.Dictionaries;
import io.millrace.proxy.encode.EncoderThreads;
import io.millrace.proxy.observe.ExtensionMetric;
import io.millrace.proxy.observe.Metric;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.StorageMetric;
import io.millrace.proxy.purge.InvalidationKind;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.pattern.PatternCost;
import io.millrace.proxy.purge.record.PurgeHistory;
import io.millrace.proxy.purge.sweep.PatternSweeper;
import io.millrace.store.CacheStore;
import io.millrace.store.StoreStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Registers metrics whose values are queried at each scrape. They concern the store, memory, purges, request limits and
 * the access log. Stateless.
 */
public final class ProxyMetrics {
    private ProxyMetrics() {}

    /** Adds the metrics of compression that event loops do not count. */
    public static void bind(MetricsRegistry metrics, EncoderThreads encoders) {
        metrics.supplySeconds(MetricFamily.COMPRESSION_TIME, encoders::nanosWorked);
    }

    /** Adds the metrics of dictionaries for compression. */
    public static void bind(MetricsRegistry metrics, Dictionaries dictionaries) {
        metrics.supplyGauge(ExtensionMetric.DICTIONARIES, dictionaries::count);
        metrics.supplyGauge(ExtensionMetric.DICTIONARY_BYTES, dictionaries::bytes);
    }

    /** Adds the metrics of the request limits. */
    public static void bind(MetricsRegistry metrics, RateTable rates) {
        metrics.supplyGauge(MetricFamily.REQUEST_LIMIT_KEYS, rates::keys);
        metrics.supplyCounter(MetricFamily.REQUEST_LIMIT_EVICTIONS, rates::evictions);
    }

    public static void bind(
            MetricsRegistry metrics, CacheStore<StoredHead> store, BufferPool allocator, ServerLogs accessLogs) {
        Supplier<StoreStatistics> statistics = metrics.perScrape(store::statistics);
        metrics.supplyGauge(
                StorageMetric.CACHE_BYTES, () -> statistics.get().ram().bytes(), "ram", "");
        metrics.supplyGauge(
                StorageMetric.CACHE_BYTES, () -> statistics.get().ram().pieceBytes(), "ram_pieces", "");
        metrics.supplyGauge(
                StorageMetric.CACHE_BYTES_MAX, () -> statistics.get().ram().bytesMax(), "ram", "");
        metrics.supplyGauge(
                StorageMetric.CACHE_ENTRIES, () -> statistics.get().ram().entries(), "ram", "");
        metrics.supplyCounter(
                StorageMetric.CACHE_EVICTIONS, () -> statistics.get().ram().evictions(), "ram", "");
        curve(metrics, store);
        metrics.supplyCounter(
                StorageMetric.STORE_SCRUBBED_BYTES,
                () -> statistics.get().counters().bytesScrubbed());
        metrics.supplyCounter(
                StorageMetric.STORE_DAMAGED_RECORDS,
                () -> statistics.get().counters().recordsDamaged(),
                "read");
        metrics.supplyCounter(
                StorageMetric.STORE_DAMAGED_RECORDS,
                () -> statistics.get().counters().recordsDamagedByScrub(),
                "scrub");
        refused(metrics, statistics, "removal", StoreStatistics.Counters::removalsRefused);
        refused(metrics, statistics, "claim", StoreStatistics.Counters::claimsRefused);
        refused(metrics, statistics, "range", StoreStatistics.Counters::rangesRefused);
        List<StoreStatistics.Volume> volumes = store.statistics().volumes();
        for (int i = 0; i < volumes.size(); i++) {
            String path = volumes.get(i).path().toString();
            volume(metrics, StorageMetric.CACHE_BYTES, statistics, i, path, StoreStatistics.Volume::bytes);
            volume(metrics, StorageMetric.CACHE_BYTES_MAX, statistics, i, path, StoreStatistics.Volume::bytesMax);
            volume(metrics, StorageMetric.CACHE_ENTRIES, statistics, i, path, StoreStatistics.Volume::entries);
            int index = i;
            ring(metrics, StorageMetric.VOLUME_WRITTEN, statistics, i, path, StoreStatistics.Ring::bytesWritten);
            ring(metrics, StorageMetric.VOLUME_CARRIED, statistics, i, path, StoreStatistics.Ring::bytesCarried);
            ring(metrics, StorageMetric.VOLUME_RECLAIMED, statistics, i, path, StoreStatistics.Ring::segmentsReclaimed);
            ring(metrics, StorageMetric.VOLUME_REFUSED, statistics, i, path, StoreStatistics.Ring::objectsRefused);
            ring(metrics, StorageMetric.VOLUME_PINS_BROKEN, statistics, i, path, StoreStatistics.Ring::pinsBroken);
            metrics.supplyGauge(
                    StorageMetric.VOLUME_PINNED,
                    () -> statistics.get().volumes().get(index).ring().bytesPinned(),
                    path);
            metrics.supplyCounter(
                    StorageMetric.VOLUME_INDEX_EVICTIONS,
                    () -> statistics.get().volumes().get(index).indexEvictions(),
                    path);
            metrics.supplyCounter(
                    StorageMetric.CACHE_ERRORS,
                    () -> statistics.get().volumes().get(index).errors(),
                    path);
            metrics.supplyGauge(
                    StorageMetric.VOLUME_ONLINE,
                    () -> statistics.get().volumes().get(index).state() == StoreStatistics.State.ONLINE ? 1 : 0,
                    path);
        }
        metrics.supplyGauge(
                StorageMetric.INVENTORY_ENTRIES, () -> store.inventory().entries());
        metrics.supplyGauge(
                StorageMetric.INVENTORY_BYTES, () -> store.inventory().bytes());
        metrics.supplyCounter(
                StorageMetric.INVENTORY_DROPPED, () -> store.inventory().dropped());
        metrics.supplyCounter(
                MetricFamily.CACHE_REFILLED, () -> statistics.get().counters().objectsRefilled());
        metrics.bindAllocator(allocator);
        MemoryMetrics.ofScrapes(() -> statistics.get().memory(), allocator).bind(metrics);
        accessLogs.bindTo(metrics);
    }

    public static void bind(MetricsRegistry metrics, Invalidator invalidator) {
        for (InvalidationKind kind : InvalidationKind.values()) {
            if (kind == InvalidationKind.JOURNAL_LOST) {
                // This kind is not a purge: it records that responses stored from then on have stamps.
                continue;
            }
            metrics.supplyGauge(MetricFamily.INVALIDATION_ENTRIES, () -> invalidator.entries(kind), kind.text());
        }
    }

    public static void bind(MetricsRegistry metrics, PurgeHistory purges) {
        metrics.supplyCounter(MetricFamily.PURGE_RECORDS_LOST, purges::lost);
    }

    public static void bind(MetricsRegistry metrics, Invalidator invalidator, PatternSweeper sweeper) {
        PatternCost cost = invalidator.patternCost();
        metrics.supplyCounter(MetricFamily.PATTERN_LOOKUPS, cost::compared);
        metrics.supplyGauge(MetricFamily.PATTERN_LOOKUP_TIME, () -> cost.averageNanos() / 1e9);
        metrics.supplyCounter(MetricFamily.PATTERN_SWEPT, sweeper::removed, "removed");
        metrics.supplyCounter(MetricFamily.PATTERN_SWEPT, sweeper::marked, "marked");
        metrics.supplyCounter(MetricFamily.PATTERN_SWEEPS_INCOMPLETE, sweeper::incomplete);
    }

    private static void curve(MetricsRegistry metrics, CacheStore<StoredHead> store) {
        metrics.supplyNamedGauges(StorageMetric.CACHE_CURVE_HIT_RATIO, () -> hitRatios(store));
        metrics.supplyCounter(StorageMetric.CACHE_CURVE_LOST, () -> {
            StoreStatistics.HitRatioCurve curve = store.curve();
            return curve == null ? 0 : curve.lost();
        });
    }

    /** Returns the estimated hit ratios by size of the RAM tier; empty while the estimate is off. */
    private static Map<String, Double> hitRatios(CacheStore<StoredHead> store) {
        Map<String, Double> ratios = new LinkedHashMap<>();
        StoreStatistics.HitRatioCurve curve = store.curve();
        if (curve != null) {
            for (StoreStatistics.CurvePoint point : curve.points()) {
                ratios.put("x" + text(point.scale()), point.hits());
            }
        }
        return ratios;
    }

    private static String text(double scale) {
        return scale >= 1 ? Long.toString((long) scale) : Double.toString(scale);
    }

    private static void refused(
            MetricsRegistry metrics,
            Supplier<StoreStatistics> statistics,
            String what,
            ToLongFunction<StoreStatistics.Counters> value) {
        metrics.supplyCounter(
                StorageMetric.STORE_REFUSED,
                () -> value.applyAsLong(statistics.get().counters()),
                what);
    }

    private static void ring(
            MetricsRegistry metrics,
            Metric family,
            Supplier<StoreStatistics> statistics,
            int index,
            String path,
            ToLongFunction<StoreStatistics.Ring> value) {
        metrics.supplyCounter(
                family,
                () -> value.applyAsLong(statistics.get().volumes().get(index).ring()),
                path);
    }

    private static void volume(
            MetricsRegistry metrics,
            Metric family,
            Supplier<StoreStatistics> statistics,
            int index,
            String path,
            ToDoubleFunction<StoreStatistics.Volume> value) {
        metrics.supplyGauge(
                family, () -> value.applyAsDouble(statistics.get().volumes().get(index)), "disk", path);
    }
}
