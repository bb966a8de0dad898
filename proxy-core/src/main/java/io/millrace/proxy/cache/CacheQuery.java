package io.millrace.proxy.cache;

import org.jspecify.annotations.Nullable;

/**
 * The conditions of a listing. A response is listed if it meets all conditions that are not null. Immutable.
 *
 * @param prefix the beginning of the URL; null for any
 * @param regex a regular expression in RE2 syntax that matches in the URL; null for any
 * @param host the host of the URL, with its port if not the default; null for any
 * @param where an expression, such as {@code size > 1MiB && age > 1h}; null for none
 */
public record CacheQuery(
        @Nullable String prefix,
        @Nullable String regex,
        @Nullable String host,
        @Nullable String where) {
    /** Returns the query for all responses. */
    public static CacheQuery all() {
        return new CacheQuery(null, null, null, null);
    }

    /** Returns the same query for URLs that begin with a text. */
    public CacheQuery withPrefix(String text) {
        return new CacheQuery(text, regex, host, where);
    }

    /** Returns the same query for URLs in which a regular expression matches. */
    public CacheQuery withRegex(String expression) {
        return new CacheQuery(prefix, expression, host, where);
    }

    /** Returns the same query for the URLs of a host. */
    public CacheQuery withHost(String name) {
        return new CacheQuery(prefix, regex, name, where);
    }

    /** Returns the same query for responses for which an expression holds. */
    public CacheQuery withCondition(String expression) {
        return new CacheQuery(prefix, regex, host, expression);
    }
}
