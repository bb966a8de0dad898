package io.millrace.proxy.config;

/**
 * What is cached, for how long, and how much of it in RAM: the general settings, or those of one remap rule. Immutable.
 *
 * @param enabled false forwards every request
 * @param ramBytes budget of the RAM tier, outside the Java heap; the same for all rules
 * @param maxObjectBytes longer responses are not stored; 0 for no limit of its own
 * @param heuristicLmFactor share of the time since Last-Modified, 0 to 1
 * @param heuristicMinSeconds shortest heuristic lifetime
 * @param heuristicMaxSeconds longest heuristic lifetime
 * @param maxStaleSeconds how long past its lifetime a response may be served while the origin fails
 * @param collapseWaitNanos how long a request waits for another one's response to the same URL; 0 never
 * @param fillWindowBytes how far a fill reads ahead of the slowest client; the same for all rules
 */
public record CacheConfig(
        boolean enabled,
        long ramBytes,
        long maxObjectBytes,
        double heuristicLmFactor,
        long heuristicMinSeconds,
        long heuristicMaxSeconds,
        long maxStaleSeconds,
        long collapseWaitNanos,
        long fillWindowBytes) {
    static CacheConfig from(ConfigValues values) {
        return new CacheConfig(
                values.get(ConfigKeys.CACHE_ENABLED),
                values.get(ConfigKeys.CACHE_RAM_SIZE),
                values.get(ConfigKeys.CACHE_MAX_OBJECT_SIZE),
                values.get(ConfigKeys.CACHE_HEURISTIC_LM_FACTOR),
                values.get(ConfigKeys.CACHE_HEURISTIC_MIN_LIFETIME).toSeconds(),
                values.get(ConfigKeys.CACHE_HEURISTIC_MAX_LIFETIME).toSeconds(),
                values.get(ConfigKeys.CACHE_MAX_STALE_AGE).toSeconds(),
                values.get(ConfigKeys.CACHE_COLLAPSE_WAIT).toNanos(),
                values.get(ConfigKeys.CACHE_FILL_WINDOW));
    }
}
