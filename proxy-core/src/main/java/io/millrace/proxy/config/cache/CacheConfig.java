package io.millrace.proxy.config.cache;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.FillConfig;
import org.jspecify.annotations.Nullable;

/**
 * Cache settings, either the general ones or those of one remap rule. Immutable.
 *
 * @param settings settings of caching decisions
 * @param ramBytes budget for stored bodies in memory, outside the Java heap; the same for all rules
 * @param refillBytesPerSecond rate at which RAM is refilled from disk after a start; 0 for no refill; the same for all
 *     rules
 * @param collapseWaitNanos how long a request waits for the response of another request to the same URL; 0 for never
 * @param volume name of the volume (a share of the storage) for the responses; null if the requested host decides
 * @param fill settings of range requests and of fetches without a waiting client
 * @param overload conditions of an overload, during which stale responses are served; null if no limit is set
 * @param fillWindowBytes how far a fetch reads ahead of the slowest client; the same for all rules
 */
public record CacheConfig(
        CacheSettings settings,
        long ramBytes,
        long refillBytesPerSecond,
        long collapseWaitNanos,
        @Nullable String volume,
        FillConfig fill,
        @Nullable OverloadConfig overload,
        long fillWindowBytes) {
    public static CacheConfig from(ConfigValues values) {
        CacheSettings settings = CacheSettingsReader.read(values);
        return new CacheConfig(
                settings,
                values.get(ConfigKeys.CACHE_RAM_SIZE),
                values.get(ConfigKeys.CACHE_REFILL_RATE),
                values.get(ConfigKeys.CACHE_COLLAPSE_WAIT).toNanos(),
                values.find(ConfigKeys.CACHE_VOLUME),
                FillConfig.from(values),
                OverloadConfig.from(values),
                values.get(ConfigKeys.CACHE_FILL_WINDOW));
    }
}
