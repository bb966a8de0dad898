package io.millrace.proxy.caching.storing;

import io.millrace.proxy.caching.CacheGroups;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.settings.StoringRules;

/** The reason why a response is not stored (RFC 9111 s3). */
public enum NoStoreReason {
    /** Caching is disabled by configuration. */
    DISABLED("disabled"),
    /** The method is neither GET nor a POST whose response may answer later GETs (RFC 9110 s9.3.3). */
    METHOD("method"),
    /** The request is a GET with content: the response may depend on more than URL and fields. */
    REQUEST_CONTENT("request-content"),
    /** The URL looks dynamic, and the configuration excludes such URLs ({@link StoringRules#dynamicUrls}). */
    DYNAMIC_URL("dynamic-url"),
    /** The cookie policy excludes storing ({@link StoringRules#cookies}). */
    COOKIES("cookies"),
    /**
     * The response has WWW-Authenticate, and the configuration excludes such responses
     * ({@link StoringRules#ignoreAuthentication}).
     */
    WWW_AUTHENTICATE("www-authenticate"),
    /** The request has {@code no-store} (s5.2.1.5). */
    REQUEST_NO_STORE("request-no-store"),
    /** An interim response, 1xx. */
    INTERIM("interim"),
    /** Partial content, 206 (s3.3), which is handled separately. */
    PARTIAL("partial"),
    /** A 304 freshens a stored response and is not stored itself (s4.3.4). */
    NOT_MODIFIED("not-modified"),
    /** An error caused by the request's fields, which the cache key does not contain ({@link RequestErrors}). */
    REQUEST_ERROR("request-error"),
    /** The response has {@code no-store} (s5.2.2.5). */
    NO_STORE("no-store"),
    /** The response has {@code private} without field names (s5.2.2.7). */
    PRIVATE("private"),
    /** The response has {@code must-understand} and a status code unknown to this cache (s5.2.2.3). */
    MUST_UNDERSTAND("must-understand"),
    /** The request has Authorization, and the response does not permit storing for such requests (s3.5). */
    AUTHORIZATION("authorization"),
    /** The response has {@code Vary: *} (s4.1). */
    VARY_ANY("vary-any"),
    /** The response lists more than {@link CacheGroups#GROUPS_MAX} cache groups (RFC 9875 s2). */
    CACHE_GROUPS("cache-groups"),
    /**
     * The tags exceed a limit, so the response could not be purged by all of them
     * ({@link io.millrace.proxy.caching.tags.TagRules#problem}).
     */
    TAGS("tags"),
    /** The status code requires an explicit lifetime or {@code public}, and the response has neither (s3). */
    STATUS("status"),
    /** The response has neither a lifetime above 0 nor a validator: it could never be reused. */
    NO_LIFETIME("no-lifetime"),
    /**
     * Like {@link #NO_LIFETIME}, but without cookies or credentials the response would have a heuristic lifetime
     * ({@link LifetimeRules#guessedWithCookies}).
     */
    GUESS_WITHHELD("guess-withheld"),
    /** The fields that {@link StoringRules#requiredHeaders} requires are missing. */
    REQUIRED_HEADERS("required-headers"),
    /** The content is longer than {@link StoringRules#maxObjectBytes}. */
    TOO_LARGE("too-large");

    private final String text;

    NoStoreReason(String text) {
        this.text = text;
    }

    /** Stable name for logs. */
    public String text() {
        return text;
    }
}
