package io.millrace.proxy.config.cache;

import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.DayTime;
import java.time.Duration;
import java.util.List;

/** Configuration keys for cache rules. A rule selects requests by site, path, client and time of day. */
public final class CacheRulesKeys {
    private static final Duration LIFETIME_MAX = Duration.ofDays(3650);

    /** The scheme of a URL. */
    public enum Scheme {
        HTTP,
        HTTPS
    }

    public static final ConfigKey<List<ConfigValues>> CACHE_RULES = ConfigKey.builder("cache_rules", ValueType.LIST)
            .atsName("cache.config")
            .description("Settings for the requests that a rule matches. All matching rules apply: later rules override"
                    + " earlier ones, and all override the section cache.");
    public static final ConfigKey<String> DEST_DOMAIN = ConfigKey.builder("cache_rules[].dest_domain", ValueType.DOMAIN)
            .atsName("dest_domain")
            .description("Matches if the requested host is this domain or below it; a dot alone matches every host.");
    public static final ConfigKey<String> DEST_HOST = ConfigKey.builder("cache_rules[].dest_host", ValueType.HOST)
            .atsName("dest_host")
            .description("Matches if the requested host is this host.");
    public static final ConfigKey<String> HOST_REGEX = ConfigKey.builder("cache_rules[].host_regex", ValueType.REGEX)
            .atsName("host_regex")
            .description("Matches if the expression is found in the requested host, which is in lower case.");
    public static final ConfigKey<String> URL_REGEX = ConfigKey.builder("cache_rules[].url_regex", ValueType.REGEX)
            .atsName("url_regex")
            .description(
                    "Matches if the expression is found in the URL of the cache key, http://host/path?query. This URL"
                            + " is normalized and has no parameters that cache.key omits.");
    public static final ConfigKey<String> PREFIX = ConfigKey.builder("cache_rules[].prefix", ValueType.PATH_PREFIX)
            .atsName("prefix")
            .description("Matches if the path begins with this text, after unnecessary percent-encodings are decoded.");
    public static final ConfigKey<String> SUFFIX = ConfigKey.builder("cache_rules[].suffix", ValueType.STRING)
            .atsName("suffix")
            .description("Matches if the path ends with this text, such as .mp4.");
    public static final ConfigKey<List<String>> METHOD = ConfigKey.builder("cache_rules[].method", ValueType.NAMES)
            .atsName("method")
            .description("Matches if the method is one of these.");
    public static final ConfigKey<Scheme> SCHEME = ConfigKey.builder(
                    "cache_rules[].scheme", ValueType.word(Scheme.class, false))
            .atsName("scheme")
            .description("Matches if the client's URL has this scheme.");
    public static final ConfigKey<Integer> PORT = ConfigKey.builder("cache_rules[].port", ValueType.INTEGER)
            .within(1, 65535)
            .atsName("port")
            .description("Matches if the client's URL has this port, explicitly or as the scheme's default.");
    public static final ConfigKey<List<String>> SRC_IP = ConfigKey.builder("cache_rules[].src_ip", ValueType.NAMES)
            .atsName("src_ip")
            .description("Matches if the client's address is in these addresses and ranges, such as 10.0.0.0/8.");
    public static final ConfigKey<DayTime> TIME = ConfigKey.builder("cache_rules[].time", ValueType.DAY_TIME)
            .atsName("time")
            .description("Matches if the local time of this machine is in this part of the day.");
    public static final ConfigKey<CacheRuleConfig.Action> ACTION = ConfigKey.builder(
                    "cache_rules[].action", ValueType.word(CacheRuleConfig.Action.class, false))
            .atsName("action")
            .description("never_cache bypasses the cache. The other actions ignore no-cache and no-store:"
                    + " ignore_client_no_cache in requests, ignore_server_no_cache in responses, and ignore_no_cache in"
                    + " both.");
    public static final ConfigKey<StoringRules.CookiePolicy> COOKIES = ConfigKey.builder(
                    "cache_rules[].cache_responses_to_cookies", ValueType.word(StoringRules.CookiePolicy.class, true))
            .atsName("cache-responses-to-cookies")
            .description("As cache.cache_responses_to_cookies, for matching requests.");
    public static final ConfigKey<Duration> PIN_IN_CACHE = ConfigKey.builder(
                    "cache_rules[].pin_in_cache", ValueType.DURATION)
            .within(Duration.ofSeconds(1), LIFETIME_MAX)
            .wholeSeconds()
            .atsName("pin-in-cache")
            .description("Responses stay on disk for this time after their receipt or last validation, even if they are"
                    + " stale or not requested; see cache.permit_pinning.");
    public static final ConfigKey<Duration> REVALIDATE = ConfigKey.builder(
                    "cache_rules[].revalidate", ValueType.DURATION)
            .within(Duration.ZERO, LIFETIME_MAX)
            .wholeSeconds()
            .atsName("revalidate")
            .description("Age up to which a response is fresh, instead of its explicit or heuristic lifetime.");
    public static final ConfigKey<Duration> TTL_IN_CACHE = ConfigKey.builder(
                    "cache_rules[].ttl_in_cache", ValueType.DURATION)
            .within(Duration.ofSeconds(1), LIFETIME_MAX)
            .wholeSeconds()
            .atsName("ttl-in-cache")
            .description("Responses are stored, and are fresh for this time after their receipt, whatever their"
                    + " Cache-Control, except private. The key overrides never_cache and revalidate.");

    /** Keys of a rule that are conditions on the request. */
    public static final List<ConfigKey<?>> CONDITIONS =
            List.of(DEST_DOMAIN, DEST_HOST, HOST_REGEX, URL_REGEX, PREFIX, SUFFIX, METHOD, SCHEME, PORT, SRC_IP, TIME);

    /** Keys of a rule that are cache settings. */
    public static final List<ConfigKey<?>> ACTIONS = List.of(ACTION, COOKIES, PIN_IN_CACHE, REVALIDATE, TTL_IN_CACHE);

    private CacheRulesKeys() {}
}
