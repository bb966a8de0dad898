package io.millrace.proxy.caching;

import io.millrace.proxy.caching.settings.QueryRule;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The settings that change cache keys, which otherwise equal the client's URL. The URL of the request to the origin
 * changes in the same way, unless {@code sendsWholeQuery} is set. Immutable.
 *
 * @param query which parts of the query the key contains
 * @param host replaces the requested host in keys, so that several hosts share stored responses; null for no change. In
 *     lower case, an IPv6 address in brackets
 * @param selectors request fields and cookies that select a stored response, as if every response listed them in Vary
 * @param generation a number in every key; a change makes all previously stored responses unreachable; -1 for none
 * @param sendsWholeQuery whether the origin nevertheless gets the client's whole query
 */
public record KeyRules(
        QueryRule query, @Nullable String host, Variance selectors, int generation, boolean sendsWholeQuery) {
    /** Keys equal the client's URL, and only the Vary field of responses selects variants. */
    public static final KeyRules UNCHANGED = new KeyRules(QueryRule.WHOLE, null, Variance.NONE, -1, false);

    /** Returns true if keys are clients' URLs without changes. */
    public boolean isUnchanged() {
        return query.isWhole() && host == null && generation < 0;
    }

    /** Returns the URL of the cache key for a client's URL; the same instance if it is unchanged. */
    public TargetUri keyUrl(TargetUri url) {
        TargetUri queryApplied = query.apply(url);
        return host == null ? queryApplied : queryApplied.withHost(host.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Returns the URL to request from the origin, for the client's URL and the key's. */
    public TargetUri originUrl(TargetUri url, TargetUri keyUrl) {
        if (!sendsWholeQuery || url == keyUrl) {
            return keyUrl;
        }
        return host == null ? url : url.withHost(keyUrl.hostBytes());
    }

    /** Returns the selectors of a response with these fields. */
    public Variance variance(FieldSection responseFields) {
        return Variance.of(responseFields).union(selectors);
    }
}
