package io.millrace.proxy.config.cache;

import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.config.access.AccessConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.AddressRange;
import io.millrace.proxy.config.value.DayTime;
import io.millrace.proxy.config.value.InvalidValueException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rule of {@code cache_rules}: conditions on a request and the resulting cache settings. Immutable.
 *
 * @param index index in the file, from 0
 * @param name name in logs and responses: {@code cache_rules[2]}, or the path of an element of {@code rules} if that
 *     element sets a lifetime
 * @param when conditions, which must all be true
 * @param then settings for matching requests
 * @param location file position, such as {@code millrace.yaml:12:5}; null for a rule set in code
 */
public record CacheRuleConfig(
        int index,
        String name,
        Conditions when,
        Actions then,
        @Nullable String location) {
    /**
     * The conditions on a request; null and empty lists match every request.
     *
     * @param domain the host or a parent domain, without a leading dot; {@code .} for every host
     * @param host the host in lower case
     * @param hostRegex expression that is searched in the host
     * @param urlRegex expression that is searched in the URL of the cache key: normalized, without the parts that cache
     *     keys omit
     * @param prefix beginning of the normalized path
     * @param suffix end of the normalized path
     * @param methods permitted request methods
     * @param secure whether the scheme is https
     * @param port port of the URL
     * @param sources addresses of clients
     * @param time local time of day of this machine
     */
    public record Conditions(
            @Nullable String domain,
            @Nullable String host,
            @Nullable String hostRegex,
            @Nullable String urlRegex,
            @Nullable String prefix,
            @Nullable String suffix,
            List<String> methods,
            @Nullable Boolean secure,
            @Nullable Integer port,
            List<AddressRange> sources,
            @Nullable DayTime time) {}

    /**
     * The settings for matching requests; null leaves a setting unchanged.
     *
     * @param action an action of Traffic Server
     * @param cookies which responses that involve cookies are stored
     * @param revalidate age from which a response is validated, regardless of its lifetime
     * @param pinInCache how long the disk keeps a stored response, even if it is not requested
     * @param ttlInCache how long a response is fresh after its receipt, regardless of its fields
     */
    public record Actions(
            @Nullable Action action,
            StoringRules.@Nullable CookiePolicy cookies,
            @Nullable Duration pinInCache,
            @Nullable Duration revalidate,
            @Nullable Duration ttlInCache) {}

    /** The actions of Traffic Server. */
    public enum Action {
        /** Neither store nor look up a response. */
        NEVER_CACHE,
        /** Both {@link #IGNORE_CLIENT_NO_CACHE} and {@link #IGNORE_SERVER_NO_CACHE}. */
        IGNORE_NO_CACHE,
        /** Same effect as {@code cache.ignore_client_no_cache}. */
        IGNORE_CLIENT_NO_CACHE,
        /** Same effect as {@code cache.ignore_server_no_cache}. */
        IGNORE_SERVER_NO_CACHE
    }

    /** Returns the regular expressions of a rule. */
    public static List<String> expressions(ConfigValues element) {
        List<String> expressions = new ArrayList<>();
        for (ConfigKey<String> key : List.of(CacheRulesKeys.HOST_REGEX, CacheRulesKeys.URL_REGEX)) {
            String expression = element.find(key);
            if (expression != null) {
                expressions.add(expression);
            }
        }
        return expressions;
    }

    public static CacheRuleConfig from(int index, ConfigValues element) {
        String domain = element.find(CacheRulesKeys.DEST_DOMAIN);
        String scheme = element.find(CacheRulesKeys.SCHEME) == null
                ? null
                : element.get(CacheRulesKeys.SCHEME).name();
        Conditions when = new Conditions(
                domain,
                element.find(CacheRulesKeys.DEST_HOST),
                element.find(CacheRulesKeys.HOST_REGEX),
                element.find(CacheRulesKeys.URL_REGEX),
                element.find(CacheRulesKeys.PREFIX),
                element.find(CacheRulesKeys.SUFFIX),
                AccessConfig.list(element, CacheRulesKeys.METHOD),
                scheme == null ? null : scheme.equals("HTTPS"),
                element.find(CacheRulesKeys.PORT),
                sources(element),
                element.find(CacheRulesKeys.TIME));
        Actions then = new Actions(
                element.find(CacheRulesKeys.ACTION),
                element.find(CacheRulesKeys.COOKIES),
                element.find(CacheRulesKeys.PIN_IN_CACHE),
                element.find(CacheRulesKeys.REVALIDATE),
                element.find(CacheRulesKeys.TTL_IN_CACHE));
        return new CacheRuleConfig(index, "cache_rules[" + index + "]", when, then, element.filePosition());
    }

    /**
     * Returns a rule without conditions that only sets a lifetime.
     *
     * @param index its index, after those of {@code cache_rules}
     * @param name the path of the element of {@code rules} that sets the lifetime
     */
    public static CacheRuleConfig lifetime(int index, String name, Duration ttl, @Nullable String location) {
        Conditions always = new Conditions(null, null, null, null, null, null, List.of(), null, null, List.of(), null);
        return new CacheRuleConfig(index, name, always, new Actions(null, null, null, null, ttl), location);
    }

    private static List<AddressRange> sources(ConfigValues element) {
        try {
            return AccessConfig.ranges(AccessConfig.list(element, CacheRulesKeys.SRC_IP));
        } catch (InvalidValueException e) {
            throw new IllegalArgumentException("src_ip: " + e.problem(), e);
        }
    }

    /** The name. */
    @Override
    public String toString() {
        return name;
    }
}
