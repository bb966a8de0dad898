package io.millrace.proxy.config.cache;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.KeyRules;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.StaleRules;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.settings.QueryRule;
import io.millrace.proxy.caching.settings.StatusSet;
import io.millrace.proxy.caching.tags.TagRules;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.http.FieldName;
import java.time.Duration;
import java.util.List;

/** Converts configured values to the settings of caching decisions. Stateless. */
final class CacheSettingsReader {

    private CacheSettingsReader() {}

    /**
     * Returns the settings.
     *
     * @param values the general values, or those of a rule completed by the general values
     */
    static CacheSettings read(ConfigValues values) {
        CacheSettings.Builder settings = CacheSettings.builder()
                .enabled(values.get(ConfigKeys.CACHE_ENABLED))
                .ignoreClientNoCache(values.get(ConfigKeys.CACHE_IGNORE_CLIENT_NO_CACHE))
                .ignoreClientMaxAge(values.get(ConfigKeys.CACHE_IGNORE_CLIENT_MAX_AGE))
                .imsOnClientNoCache(values.get(CachePolicyKeys.IMS_ON_CLIENT_NO_CACHE))
                .authorizedReuse(values.get(CachePolicyKeys.REUSE_WITH_AUTHORIZATION));
        storing(values, settings);
        lifetimes(values, settings);
        stale(values, settings);
        TagRules tags = TagRules.of(values.get(CachePolicyKeys.TAGS_FIELDS), values.get(CachePolicyKeys.TAGS_KEEP));
        return settings.key(key(values))
                .tags(tags)
                .encoding(CompressionConfig.read(values))
                .build();
    }

    private static KeyRules key(ConfigValues values) {
        QueryRule query = new QueryRule(
                values.get(CacheKeyKeys.IGNORE_QUERY),
                parameters(values, CacheKeyKeys.INCLUDED_PARAMS),
                parameters(values, CacheKeyKeys.EXCLUDED_PARAMS),
                values.get(CacheKeyKeys.SORTED_PARAMS));
        List<FieldName> fields =
                values.get(CacheKeyKeys.FIELDS).stream().map(FieldName::of).toList();
        return new KeyRules(
                query,
                values.find(CacheKeyKeys.HOST),
                Variance.of(fields, values.get(CacheKeyKeys.COOKIES)),
                values.get(CacheKeyKeys.GENERATION),
                values.get(CacheKeyKeys.SEND_WHOLE_QUERY));
    }

    private static List<String> parameters(ConfigValues values, ConfigKey<List<String>> key) {
        return values.get(key).stream().map(QueryRule::nameOf).toList();
    }

    private static void storing(ConfigValues values, CacheSettings.Builder settings) {
        List<String> targets = values.get(CachePolicyKeys.TARGETED_CACHE_CONTROL);
        List<String> unsharedFields = values.get(CachePolicyKeys.UNSHARED_FIELDS);
        settings.targets(targets.stream().map(FieldName::of).toList())
                .unsharedFields(unsharedFields.stream().map(FieldName::of).toList())
                .maxObjectBytes(values.get(ConfigKeys.CACHE_MAX_OBJECT_SIZE))
                .storageShareMax(values.get(CachePolicyKeys.OBJECT_SHARE_MAX))
                .requiredHeaders(values.get(ConfigKeys.CACHE_REQUIRED_HEADERS))
                .ignoreServerNoCache(values.get(CachePolicyKeys.IGNORE_SERVER_NO_CACHE))
                .ignoreAuthentication(values.get(CachePolicyKeys.IGNORE_AUTHENTICATION))
                .cookies(values.get(CachePolicyKeys.RESPONSES_TO_COOKIES))
                .dynamicUrls(values.get(CachePolicyKeys.DYNAMIC_URLS))
                .leakGuard(values.get(CachePolicyKeys.LEAK_GUARD))
                .variantsMax(values.get(CachePolicyKeys.VARIANTS_MAX))
                .post(values.get(CachePolicyKeys.POST_METHOD));
    }

    private static void lifetimes(ConfigValues values, CacheSettings.Builder settings) {
        settings.heuristicFactor(values.get(ConfigKeys.CACHE_HEURISTIC_LM_FACTOR))
                .heuristicMinSeconds(seconds(values, ConfigKeys.CACHE_HEURISTIC_MIN_LIFETIME))
                .heuristicMaxSeconds(seconds(values, ConfigKeys.CACHE_HEURISTIC_MAX_LIFETIME))
                .heuristicWithoutLastModified(values.get(ConfigKeys.CACHE_HEURISTIC_WITHOUT_LAST_MODIFIED))
                .heuristicWithCookies(values.get(CachePolicyKeys.GUESSED_LIFETIME_WITH_COOKIES))
                .guaranteedMinSeconds(seconds(values, CachePolicyKeys.GUARANTEED_MIN_LIFETIME))
                .guaranteedMaxSeconds(seconds(values, CachePolicyKeys.GUARANTEED_MAX_LIFETIME))
                .whenToRevalidate(values.get(CachePolicyKeys.WHEN_TO_REVALIDATE))
                .negative(new LifetimeRules.NegativeCaching(
                        values.get(CachePolicyKeys.NEGATIVE_CACHING_ENABLED),
                        seconds(values, CachePolicyKeys.NEGATIVE_CACHING_LIFETIME),
                        statuses(values, CachePolicyKeys.NEGATIVE_CACHING_LIST)));
    }

    private static void stale(ConfigValues values, CacheSettings.Builder settings) {
        settings.maxStaleSeconds(seconds(values, ConfigKeys.CACHE_MAX_STALE_AGE))
                .whileRevalidateSeconds(seconds(values, CachePolicyKeys.STALE_WHILE_REVALIDATE))
                .forcedWhileRevalidateSeconds(seconds(values, CachePolicyKeys.FORCE_STALE_WHILE_REVALIDATE))
                .ifErrorSeconds(seconds(values, CachePolicyKeys.STALE_IF_ERROR))
                .forcedIfErrorSeconds(seconds(values, CachePolicyKeys.FORCE_STALE_IF_ERROR))
                .despiteSharedMaxAge(values.get(CachePolicyKeys.STALE_DESPITE_S_MAXAGE))
                .onError(new StaleRules.NegativeRevalidating(
                        values.get(CachePolicyKeys.NEGATIVE_REVALIDATING_ENABLED),
                        seconds(values, CachePolicyKeys.NEGATIVE_REVALIDATING_LIFETIME),
                        statuses(values, CachePolicyKeys.NEGATIVE_REVALIDATING_LIST)));
    }

    private static long seconds(ConfigValues values, ConfigKey<Duration> key) {
        return values.get(key).toSeconds();
    }

    private static StatusSet statuses(ConfigValues values, ConfigKey<List<String>> key) {
        return StatusSet.of(values.get(key).stream().map(Integer::valueOf).toList());
    }
}
