package io.millrace.proxy.caching.storing;

import io.millrace.proxy.caching.CacheGroups;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.settings.StoringRules;
import org.jspecify.annotations.Nullable;

/** The reason why a response is not stored (RFC 9111 s3). */
public enum NoStoreReason {
    /** Caching is disabled by configuration. */
    DISABLED("disabled", "the configuration turns caching off"),
    /** The method is neither GET nor a POST whose response may answer later GETs (RFC 9110 s9.3.3). */
    METHOD("method", "responses to this method are not stored"),
    /** The request is a GET with content: the response may depend on more than URL and fields. */
    REQUEST_CONTENT("request-content", "the request had content"),
    /** The URL looks dynamic, and the configuration excludes such URLs ({@link StoringRules#dynamicUrls}). */
    DYNAMIC_URL("dynamic-url", "the URL looks dynamic"),
    /** The cookie policy excludes storing ({@link StoringRules#cookies}). */
    COOKIES("cookies", "of its cookies"),
    /**
     * The response has WWW-Authenticate, and the configuration excludes such responses
     * ({@link StoringRules#ignoreAuthentication}).
     */
    WWW_AUTHENTICATE("www-authenticate", "it has WWW-Authenticate"),
    /** The request has {@code no-store} (s5.2.1.5). */
    REQUEST_NO_STORE("request-no-store", "the request had Cache-Control: no-store"),
    /** An interim response, 1xx. */
    INTERIM("interim", "it is an interim response"),
    /** Partial content, 206 (s3.3), which is handled separately. */
    PARTIAL("partial", "it is a part of the content"),
    /** A 304 freshens a stored response and is not stored itself (s4.3.4). */
    NOT_MODIFIED("not-modified", "it has no content of its own"),
    /** An error caused by the request's fields, which the cache key does not contain ({@link RequestErrors}). */
    REQUEST_ERROR("request-error", "it is an error that depends on fields of the request"),
    /** The response has {@code no-store} (s5.2.2.5). */
    NO_STORE("no-store", "it has Cache-Control: no-store"),
    /** The response has {@code private} without field names (s5.2.2.7). */
    PRIVATE("private", "it has Cache-Control: private"),
    /** The response has {@code must-understand} and a status code unknown to this cache (s5.2.2.3). */
    MUST_UNDERSTAND("must-understand", "it has must-understand and a status that is not understood"),
    /** The request has Authorization, and the response does not permit storing for such requests (s3.5). */
    AUTHORIZATION("authorization", "the request had Authorization"),
    /** The response has {@code Vary: *} (s4.1). */
    VARY_ANY("vary-any", "it has Vary: *"),
    /** The response lists more than {@link CacheGroups#GROUPS_MAX} cache groups (RFC 9875 s2). */
    CACHE_GROUPS("cache-groups", "it has too many cache groups"),
    /**
     * The tags exceed a limit, so the response could not be purged by all of them
     * ({@link io.millrace.proxy.caching.tags.TagRules#problem}).
     */
    TAGS("tags", "its tags exceed a limit"),
    /** The status code requires an explicit lifetime or {@code public}, and the response has neither (s3). */
    STATUS("status", "its status needs an explicit lifetime"),
    /** The response has neither a lifetime above 0 nor a validator: it could never be reused. */
    NO_LIFETIME("no-lifetime", "it has neither a lifetime nor a validator"),
    /**
     * Like {@link #NO_LIFETIME}, but without cookies or credentials the response would have a heuristic lifetime
     * ({@link LifetimeRules#heuristicWithCookies}).
     */
    HEURISTIC_REFUSED("guess-withheld", "it has no lifetime, and the request had cookies or Authorization"),
    /** The fields that {@link StoringRules#requiredHeaders} requires are missing. */
    REQUIRED_HEADERS("required-headers", "it lacks a field that cache.required_headers demands"),
    /** The URL looks like a static file, but the response looks like a page for one user ({@link LeakGuard}). */
    LEAK_GUARD("leak-guard", "its type contradicts its URL, and it may be for one user (cache.leak_guard)"),
    /** The content is longer than {@link StoringRules#maxObjectBytes}. */
    TOO_LARGE("too-large", "its content is too long");

    private static final NoStoreReason[] BY_CODE = values();

    private final String text;
    private final String sentence;

    NoStoreReason(String text, String sentence) {
        this.text = text;
        this.sentence = sentence;
    }

    /** Number of the reason within this process, from 0 to 31. */
    @SuppressWarnings("EnumOrdinal") // nothing outside of the process depends on the order of the constants
    public int code() {
        return ordinal();
    }

    /** Returns the reason with the number; null for a negative number. */
    public static @Nullable NoStoreReason ofCode(int code) {
        return code < 0 ? null : BY_CODE[code];
    }

    /** The reason for display, as the clause after "because" in a sentence about the response. */
    public String sentence() {
        return sentence;
    }

    /**
     * The detail of Cache-Status, for responses that look personal or exceed a limit of this cache; null for other
     * reasons.
     */
    public @Nullable String detail() {
        return switch (this) {
            case TAGS -> "tags-limit";
            case CACHE_GROUPS -> "cache-groups-limit";
            case AUTHORIZATION -> "leak-guard:authorization";
            case COOKIES, HEURISTIC_REFUSED -> "leak-guard:cookies";
            case LEAK_GUARD -> "leak-guard:type";
            default -> null;
        };
    }

    /** Stable name for logs. */
    public String text() {
        return text;
    }
}
