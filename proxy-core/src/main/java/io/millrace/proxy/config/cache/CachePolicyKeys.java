package io.millrace.proxy.config.cache;

import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.settings.RequestRules;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.caching.tags.TagRules;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.time.Duration;
import java.util.List;

/**
 * Configuration keys for cache settings that extend or override RFC 9111. Remap rules can override all of them. The
 * defaults follow the RFC.
 */
public final class CachePolicyKeys {
    private static final Duration LIFETIME_MAX = Duration.ofDays(3650);

    public static final ConfigKey<Double> OBJECT_SHARE_MAX = ConfigKey.builder(
                    "cache.object_share_max", ValueType.PERCENT)
            .within(0.0001, 0.5)
            .defaultsTo(0.25)
            .perRule()
            .description(
                    "Share of its storage path or volume that one response may take; longer ones are forwarded and not"
                            + " stored.");
    public static final ConfigKey<List<String>> TARGETED_CACHE_CONTROL = ConfigKey.builder(
                    "cache.targeted_cache_control", ValueType.FIELD_NAMES)
            .defaultsTo(List.of("CDN-Cache-Control"))
            .perRule()
            .atsName("proxy.config.http.cache.targeted_cache_control_headers")
            .description(
                    "Response fields with directives for this cache (RFC 9213): the first one that is present and well"
                            + " formed replaces Cache-Control and Expires.");
    public static final ConfigKey<LifetimeRules.WhenToRevalidate> WHEN_TO_REVALIDATE = ConfigKey.builder(
                    "cache.when_to_revalidate", ValueType.word(LifetimeRules.WhenToRevalidate.class, true))
            .defaultsTo(LifetimeRules.WhenToRevalidate.DIRECTIVES)
            .perRule()
            .atsName("proxy.config.http.cache.when_to_revalidate")
            .description(
                    "When a stored response is validated before its use. directives: after its lifetime. heuristic:"
                            + " also within a lifetime that is not explicit. always: at each use. never: at no use."
                            + " if_modified_since: also for requests with If-Modified-Since.");
    public static final ConfigKey<Duration> GUARANTEED_MIN_LIFETIME = seconds("cache.guaranteed_min_lifetime")
            .atsName("proxy.config.http.cache.guaranteed_min_lifetime")
            .description("Shortest freshness lifetime of any stored response, whatever its fields say.");
    public static final ConfigKey<Duration> GUARANTEED_MAX_LIFETIME = seconds("cache.guaranteed_max_lifetime")
            .atsName("proxy.config.http.cache.guaranteed_max_lifetime")
            .description(
                    "Longest freshness lifetime of any stored response, whatever its fields say; 0 sets no limit.");
    public static final ConfigKey<Boolean> IMS_ON_CLIENT_NO_CACHE = ConfigKey.builder(
                    "cache.ims_on_client_no_cache", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .atsName("proxy.config.http.cache.ims_on_client_no_cache")
            .description("Whether a client's no-cache causes a validation of the stored response; false fetches the"
                    + " response again.");
    public static final ConfigKey<Boolean> IGNORE_SERVER_NO_CACHE = ConfigKey.builder(
                    "cache.ignore_server_no_cache", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .atsName("proxy.config.http.cache.ignore_server_no_cache")
            .description("Whether no-cache and no-store in responses are ignored; private is not.");
    public static final ConfigKey<Boolean> IGNORE_AUTHENTICATION = ConfigKey.builder(
                    "cache.ignore_authentication", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .atsName("proxy.config.http.cache.ignore_authentication")
            .description("Whether a response with WWW-Authenticate is stored like any other; false never stores one.");
    public static final ConfigKey<RequestRules.AuthorizedReuse> REUSE_WITH_AUTHORIZATION = ConfigKey.builder(
                    "cache.reuse_with_authorization", ValueType.word(RequestRules.AuthorizedReuse.class, true))
            .defaultsTo(RequestRules.AuthorizedReuse.ALWAYS)
            .perRule()
            .atsName("proxy.config.http.cache.ignore_authentication")
            .description("Stored responses that answer a request with Authorization. if_allowed: those with public or"
                    + " s-maxage; those with must-revalidate or proxy-revalidate are validated each time, and"
                    + " all others are not used. always: all, as RFC 9111 s3.5 allows.");
    public static final ConfigKey<LifetimeRules.HeuristicWithCookies> GUESSED_LIFETIME_WITH_COOKIES = ConfigKey.builder(
                    "cache.guessed_lifetime_with_cookies",
                    ValueType.word(LifetimeRules.HeuristicWithCookies.class, false))
            .defaultsTo(LifetimeRules.HeuristicWithCookies.NOT_TEXT)
            .perRule()
            .description("Responses with Set-Cookie, or to a request with Cookie or Authorization, that get a"
                    + " heuristic lifetime. none: none. not_text: responses to a request with Cookie that are not"
                    + " text, JSON or XML. all: all.");
    public static final ConfigKey<List<String>> UNSHARED_FIELDS = ConfigKey.builder(
                    "cache.unshared_fields", ValueType.FIELD_NAMES)
            .defaultsTo(List.of())
            .perRule()
            .description("Response fields for the requesting client only, as though every response named them in"
                    + " private=\"...\": they are neither stored nor shared.");
    public static final ConfigKey<StoringRules.CookiePolicy> RESPONSES_TO_COOKIES = ConfigKey.builder(
                    "cache.cache_responses_to_cookies", ValueType.word(StoringRules.CookiePolicy.class, true))
            .defaultsTo(StoringRules.CookiePolicy.ALL)
            .perRule()
            .atsName("proxy.config.http.cache.cache_responses_to_cookies")
            .description("Content types that are stored and reused if the request has Cookie or the response has"
                    + " Set-Cookie: none; all; images; not_text: all but text;"
                    + " not_text_unless_public: all but text that has Set-Cookie and lacks public.");
    public static final ConfigKey<StoringRules.LeakGuardLevel> LEAK_GUARD = ConfigKey.builder(
                    "cache.leak_guard", ValueType.word(StoringRules.LeakGuardLevel.class, false))
            .defaultsTo(StoringRules.LeakGuardLevel.ON)
            .perRule()
            .description("Treatment of HTML or JSON at a URL that ends like a static file, such as /account/x.css, with"
                    + " Cookie, Authorization or Set-Cookie, and without public or s-maxage. on: not stored. warn:"
                    + " stored, counted and logged. off: stored.");
    public static final ConfigKey<Boolean> DYNAMIC_URLS = ConfigKey.builder(
                    "cache.cache_urls_that_look_dynamic", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .atsName("proxy.config.http.cache.cache_urls_that_look_dynamic")
            .description(
                    "Whether responses are cached whose URL has a query, a semicolon, 'cgi' in the path, or '.asp' at the"
                            + " end of the path.");
    public static final ConfigKey<Integer> VARIANTS_MAX = ConfigKey.builder("cache.variants_max", ValueType.INTEGER)
            .within(0, 10_000)
            .defaultsTo(16)
            .perRule()
            .atsName("proxy.config.cache.limits.http.max_alts")
            .description("Maximum of stored variants of one URL (Vary); a new variant replaces the oldest; 0 sets no"
                    + " limit.");
    public static final ConfigKey<Boolean> POST_METHOD = ConfigKey.builder("cache.post_method", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .atsName("proxy.config.http.cache.post_method")
            .description("Whether a response to POST is stored for later GETs if it has an explicit lifetime, and its"
                    + " Content-Location is the URL of the request.");
    public static final ConfigKey<List<String>> TAGS_FIELDS = ConfigKey.builder(
                    "cache.tags.fields", ValueType.FIELD_NAMES)
            .defaultsTo(TagRules.DEFAULT_FIELDS)
            .perRule()
            .description(
                    "Response fields with the tags by which a response can be purged. Surrogate-Key and xkey separate"
                            + " tags by spaces, Cache-Tag and Edge-Cache-Tag by commas, other fields by either;"
                            + " Cache-Groups is a list of strings (RFC 9651). An empty list turns tags off.");
    public static final ConfigKey<Boolean> TAGS_KEEP = ConfigKey.builder("cache.tags.keep", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description("Whether clients get the fields of cache.tags.fields. They always get Cache-Groups.");
    public static final ConfigKey<Boolean> NEGATIVE_CACHING_ENABLED = ConfigKey.builder(
                    "cache.negative_caching.enabled", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .atsName("proxy.config.http.negative_caching_enabled")
            .description(
                    "Whether responses with a status in cache.negative_caching.list and without an explicit lifetime"
                            + " are stored.");
    public static final ConfigKey<Duration> NEGATIVE_CACHING_LIFETIME = seconds("cache.negative_caching.lifetime")
            .defaultsTo(Duration.ofMinutes(30))
            .atsName("proxy.config.http.negative_caching_lifetime")
            .description("Freshness lifetime of responses stored by negative_caching.");
    public static final ConfigKey<List<String>> NEGATIVE_CACHING_LIST = ConfigKey.builder(
                    "cache.negative_caching.list", ValueType.STATUSES)
            .defaultsTo(List.of("204", "305", "403", "404", "414", "500", "501", "502", "503", "504"))
            .perRule()
            .atsName("proxy.config.http.negative_caching_list")
            .description("Status codes for negative_caching.");
    public static final ConfigKey<Boolean> NEGATIVE_REVALIDATING_ENABLED = ConfigKey.builder(
                    "cache.negative_revalidating.enabled", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .atsName("proxy.config.http.negative_revalidating_enabled")
            .description(
                    "Whether a response with a status in cache.negative_revalidating.list counts as a failure of the"
                            + " origin, so that a stale response may be served.");
    public static final ConfigKey<Duration> NEGATIVE_REVALIDATING_LIFETIME = seconds(
                    "cache.negative_revalidating.lifetime")
            .atsName("proxy.config.http.negative_revalidating_lifetime")
            .description(
                    "If a response is served stale because the origin fails, its Expires is set to this time from now;"
                            + " 0 leaves Expires unchanged.");
    public static final ConfigKey<List<String>> NEGATIVE_REVALIDATING_LIST = ConfigKey.builder(
                    "cache.negative_revalidating.list", ValueType.STATUSES)
            .defaultsTo(List.of("500", "502", "503", "504"))
            .perRule()
            .atsName("proxy.config.http.negative_revalidating_list")
            .description("The status codes that count as failure.");
    public static final ConfigKey<Duration> STALE_WHILE_REVALIDATE = seconds("cache.stale_while_revalidate")
            .atsName("stale_response.so --stale-while-revalidate-default")
            .description("Value of stale-while-revalidate (RFC 5861) for responses without it.");
    public static final ConfigKey<Duration> FORCE_STALE_WHILE_REVALIDATE = seconds("cache.force_stale_while_revalidate")
            .atsName("stale_response.so --force-stale-while-revalidate")
            .description("Value of stale-while-revalidate for every response, in place of its own; 0 turns this off.");
    public static final ConfigKey<Duration> STALE_IF_ERROR = seconds("cache.stale_if_error")
            .atsName("stale_response.so --stale-if-error-default")
            .description("Value of stale-if-error (RFC 5861) for responses without it; it replaces max_stale_age.");
    public static final ConfigKey<Duration> FORCE_STALE_IF_ERROR = seconds("cache.force_stale_if_error")
            .atsName("stale_response.so --force-stale-if-error")
            .description("Value of stale-if-error for every response, in place of its own; 0 turns this off.");
    public static final ConfigKey<Boolean> STALE_DESPITE_S_MAXAGE = ConfigKey.builder(
                    "cache.stale_despite_s_maxage", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description(
                    "Whether a response with s-maxage may be served stale, although RFC 9111 s5.2.2.10 forbids it.");

    private CachePolicyKeys() {}

    private static ConfigKey.Builder<Duration> seconds(String path) {
        return ConfigKey.builder(path, ValueType.DURATION)
                .within(Duration.ZERO, LIFETIME_MAX)
                .defaultsTo(Duration.ZERO)
                .wholeSeconds()
                .perRule();
    }
}
