package io.millrace.proxy.config.cache;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.FillConfig;
import org.jspecify.annotations.Nullable;

/**
 * What is cached, for how long, and how much of it in RAM: the general settings, or those of one remap rule. Immutable.
 *
 * @param settings what the caching decisions need
 * @param ramBytes budget for stored bodies in memory, outside the Java heap; the same for all rules
 * @param refillBytesPerSecond rate at which RAM is filled again after a start; 0 not at all; the same for all rules
 * @param collapseWaitNanos how long a request waits for another one's response to the same URL; 0 never
 * @param volume the volume that responses go to; null when the client's host decides
 * @param fill how ranges and what nobody waits for are fetched
 * @param overload when what is stored serves longer than it should; null for never
 * @param fillWindowBytes how far a fill reads ahead of the slowest client; the same for all rules
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
