package io.millrace.proxy.caching.storing;

import io.millrace.proxy.caching.CacheGroups;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.settings.StoringRules;

/** Why a response is not stored (RFC 9111 s3). */
public enum NoStoreReason {
    /** Caching is off by configuration. */
    DISABLED("disabled"),
    /** The request's method is not GET, and the answer not one to POST that stands for GET's (RFC 9110 s9.3.3). */
    METHOD("method"),
    /** The request has content: a GET whose answer may depend on more than its URL and fields. */
    REQUEST_CONTENT("request-content"),
    /** The URL looks dynamic, and such are not stored ({@link StoringRules#dynamicUrls}). */
    DYNAMIC_URL("dynamic-url"),
    /** Cookies keep it from being stored ({@link StoringRules#cookies}). */
    COOKIES("cookies"),
    /** It has WWW-Authenticate, and such are not stored ({@link StoringRules#ignoreAuthentication}). */
    WWW_AUTHENTICATE("www-authenticate"),
    /** The request says {@code no-store} (s5.2.1.5). */
    REQUEST_NO_STORE("request-no-store"),
    /** An interim response, 1xx. */
    INTERIM("interim"),
    /** Partial content, 206 (s3.3): not combined by this cache. */
    PARTIAL("partial"),
    /** A 304 freshens a stored response and is none itself (s4.3.4). */
    NOT_MODIFIED("not-modified"),
    /** An error about the request's fields, which are not in the key ({@link RequestErrors}). */
    REQUEST_ERROR("request-error"),
    /** The response says {@code no-store} (s5.2.2.5). */
    NO_STORE("no-store"),
    /** The response says {@code private} without field names (s5.2.2.7). */
    PRIVATE("private"),
    /** {@code must-understand} with a status code that this cache does not know (s5.2.2.3). */
    MUST_UNDERSTAND("must-understand"),
    /** The request has Authorization and nothing in the response allows to store it (s3.5). */
    AUTHORIZATION("authorization"),
    /** {@code Vary: *} (s4.1). */
    VARY_ANY("vary-any"),
    /** It names more than {@link CacheGroups#GROUPS_MAX} cache groups (RFC 9875 s2). */
    CACHE_GROUPS("cache-groups"),
    /** Its tags break a limit: it could not be purged by all of them ({@link io.millrace.proxy.caching.tags.TagRules#problem}). */
    TAGS("tags"),
    /** The status code asks for an explicit lifetime or {@code public}, and there is none (s3). */
    STATUS("status"),
    /** Neither a lifetime above 0 nor a validator: it could never be reused. */
    NO_LIFETIME("no-lifetime"),
    /** As {@link #NO_LIFETIME}, of what might have one without cookies or credentials ({@link LifetimeRules#guessedWithCookies}). */
    GUESS_WITHHELD("guess-withheld"),
    /** The fields that {@link StoringRules#requiredHeaders} asks for are missing. */
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
