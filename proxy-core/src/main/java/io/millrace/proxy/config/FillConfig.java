package io.millrace.proxy.config;

/**
 * What is fetched beyond what a client waits for. Immutable.
 *
 * @param rangeLookup whether requests with Range use the cache
 * @param rangeWrite whether a range that is not stored makes the whole be fetched
 * @param activeTimeoutNanos how long a fill goes on without clients; 0 without limit
 * @param completedThreshold share of the body that must have come for it to go on
 * @param uncacheableSeconds how long a key is remembered whose response could not be stored; 0 not at all
 */
public record FillConfig(
        boolean rangeLookup,
        boolean rangeWrite,
        long activeTimeoutNanos,
        double completedThreshold,
        long uncacheableSeconds) {
    static FillConfig from(ConfigValues values) {
        return new FillConfig(
                values.get(ConfigKeys.CACHE_RANGE_LOOKUP),
                values.get(ConfigKeys.CACHE_RANGE_WRITE),
                values.get(ConfigKeys.CACHE_BACKGROUND_FILL_ACTIVE_TIMEOUT).toNanos(),
                values.get(ConfigKeys.CACHE_BACKGROUND_FILL_COMPLETED_THRESHOLD),
                values.get(ConfigKeys.CACHE_UNCACHEABLE_TTL).toSeconds());
    }
}
