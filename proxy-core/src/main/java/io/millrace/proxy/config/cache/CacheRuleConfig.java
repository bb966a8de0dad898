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
 * One rule of {@code cache_rules}: for which requests, and what is then different. Immutable.
 *
 * @param index place in the file, from 0
 * @param when what a request must be, all of it
 * @param then what holds for it
 * @param location where it stands, as {@code millrace.yaml:12:5}; null when it comes from code
 */
public record CacheRuleConfig(
        int index, Conditions when, Actions then, @Nullable String location) {
    /**
     * What a request must be; null and empty lists ask for nothing.
     *
     * @param domain the host, or one below it; without a dot before it, {@code .} for every host
     * @param host the host in lower case
     * @param hostRegex found in the host
     * @param urlRegex found in the URL that cache keys have: in their normal form and without what they leave out
     * @param prefix begins the path, in normal form
     * @param suffix ends the path, in normal form
     * @param methods of which the request has one
     * @param secure whether its scheme is https
     * @param port of the URL
     * @param sources have the client's address
     * @param time of the day, where this machine is
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
     * What holds for it; null leaves it to the other settings.
     *
     * @param action one of Traffic Server's
     * @param cookies which answers that have to do with cookies are stored
     * @param revalidate age from which a response is validated, whatever its lifetime
     * @param pinInCache how long the disk keeps what is stored, asked for or not
     * @param ttlInCache how long a response is fresh from its receipt on, whatever it says
     */
    public record Actions(
            @Nullable Action action,
            StoringRules.@Nullable CookiePolicy cookies,
            @Nullable Duration pinInCache,
            @Nullable Duration revalidate,
            @Nullable Duration ttlInCache) {}

    /** What Traffic Server calls actions. */
    public enum Action {
        /** Nothing is stored or looked up. */
        NEVER_CACHE,
        /** Both of the next two. */
        IGNORE_NO_CACHE,
        /** As {@code cache.ignore_client_no_cache}. */
        IGNORE_CLIENT_NO_CACHE,
        /** As {@code cache.ignore_server_no_cache}. */
        IGNORE_SERVER_NO_CACHE
    }

    /** The expressions of a rule. */
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
        return new CacheRuleConfig(index, when, then, element.origin());
    }

    private static List<AddressRange> sources(ConfigValues element) {
        try {
            return AccessConfig.ranges(AccessConfig.list(element, CacheRulesKeys.SRC_IP));
        } catch (InvalidValueException e) {
            throw new IllegalArgumentException("src_ip: " + e.problem(), e);
        }
    }

    /** As logs and answers name it: {@code cache_rules[2]}. */
    @Override
    public String toString() {
        return "cache_rules[" + index + "]";
    }
}
