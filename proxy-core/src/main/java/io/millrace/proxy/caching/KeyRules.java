package io.millrace.proxy.caching;

import io.millrace.proxy.caching.settings.QueryRule;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What tells stored responses apart, where it is not the client's URL alone. One key is one question: what is left out of the URL
 * here is left out of what the origin is asked too, unless an operator says otherwise. Immutable.
 *
 * @param query what is kept of the query
 * @param host stands for the client's host, so that several hosts share what is stored; null for the client's own. In lower
 *     case, an IPv6 address in brackets
 * @param selectors request fields and cookies that select a stored response, as though every response named them in Vary
 * @param generation a number in every key, so that another one finds nothing of what was stored before; -1 for none
 * @param sendsWholeQuery whether the origin gets the client's query all the same
 */
public record KeyRules(
        QueryRule query, @Nullable String host, Variance selectors, int generation, boolean sendsWholeQuery) {
    /** The client's URL and what Vary names. */
    public static final KeyRules PLAIN = new KeyRules(QueryRule.WHOLE, null, Variance.NONE, -1, false);

    /** Whether keys are clients' URLs as they came. */
    public boolean isPlain() {
        return query.isWhole() && host == null && generation < 0;
    }

    /** The URL that the key stands for, given the client's; the same instance if it is that one. */
    public TargetUri keyUrl(TargetUri url) {
        TargetUri asked = query.apply(url);
        return host == null ? asked : asked.withHost(host.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** The URL that the origin is asked for, given the client's and the key's. */
    public TargetUri originUrl(TargetUri url, TargetUri keyUrl) {
        if (!sendsWholeQuery || url == keyUrl) {
            return keyUrl;
        }
        return host == null ? url : url.withHost(keyUrl.hostBytes());
    }

    /** The request fields that select a response with these fields. */
    public Variance variance(FieldSection responseFields) {
        return Variance.of(responseFields).and(selectors);
    }
}
