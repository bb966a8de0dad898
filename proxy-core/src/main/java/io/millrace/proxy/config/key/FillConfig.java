package io.millrace.proxy.config.key;

/**
 * What is fetched beyond what a client waits for. Immutable.
 *
 * @param rangeLookup whether requests with Range use the cache
 * @param rangeWrite whether a range that is not stored makes the whole be fetched
 * @param activeTimeoutNanos how long a fill goes on without clients; 0 without limit
 * @param completedThreshold share of the body that must have come for it to go on
 * @param readWhileWriting which requests read what another one fetches
 * @param uncacheableSeconds how long a key is remembered whose response could not be stored; 0 not at all
 */
public record FillConfig(
        boolean rangeLookup,
        boolean rangeWrite,
        long activeTimeoutNanos,
        double completedThreshold,
        ReadWhileWriting readWhileWriting,
        long uncacheableSeconds) {

    /** Which requests read what another one fetches; the ordinals are Traffic Server's numbers. */
    public enum ReadWhileWriting {
        /** None: each goes to the origin until something is stored. */
        NEVER,
        /** All that it may answer. */
        ALWAYS,
        /** Those without Range. */
        NOT_FOR_RANGES
    }

    public static FillConfig from(ConfigValues values) {
        return new FillConfig(
                values.get(ConfigKeys.CACHE_RANGE_LOOKUP),
                values.get(ConfigKeys.CACHE_RANGE_WRITE),
                values.get(ConfigKeys.CACHE_BACKGROUND_FILL_ACTIVE_TIMEOUT).toNanos(),
                values.get(ConfigKeys.CACHE_BACKGROUND_FILL_COMPLETED_THRESHOLD),
                values.get(ConfigKeys.CACHE_READ_WHILE_WRITING),
                values.get(ConfigKeys.CACHE_UNCACHEABLE_TTL).toSeconds());
    }
}
