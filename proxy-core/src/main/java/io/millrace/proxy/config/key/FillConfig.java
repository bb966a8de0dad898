package io.millrace.proxy.config.key;

/**
 * Settings of fetches from origins: ranges, fetches without waiting clients, and requests that follow a fetch. A
 * request that follows gets the response of a fetch in progress instead of its own fetch. Immutable.
 *
 * @param rangesUseCache whether requests with Range use the cache
 * @param fetchesWholeForRange whether a request for a range that is not stored fetches the whole response
 * @param activeTimeoutNanos how long a fetch continues without clients; 0 for no limit
 * @param completedThreshold fraction of the body that must have arrived for a fetch without clients to continue
 * @param readWhileWriting which requests follow the fetch of another request
 * @param uncacheableSeconds how long the key of a response that could not be stored is remembered; 0 to remember none
 */
public record FillConfig(
        boolean rangesUseCache,
        boolean fetchesWholeForRange,
        long activeTimeoutNanos,
        double completedThreshold,
        ReadWhileWriting readWhileWriting,
        long uncacheableSeconds) {

    /** Which requests follow the fetch of another request. The ordinals are the numbers of Traffic Server. */
    public enum ReadWhileWriting {
        /** None: each request is sent to the origin until a response is stored. */
        NEVER,
        /** All requests that the fetched response can answer. */
        ALWAYS,
        /** Requests without Range. */
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
