package io.millrace.proxy.remap;

import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.http.TargetUri;
import org.jspecify.annotations.Nullable;

/**
 * The result for a URL that a remap rule maps to an origin. There is one object per rule, so values that depend
 * on the request have a parameter for the URL. Immutable.
 *
 * @param rule the rule that maps the URL
 */
public record Mapped(RemapRule rule) implements RemapResult {
    /** {@code http} or {@code https}. */
    public String originScheme() {
        return rule.originScheme();
    }

    /** The lower-case name or address of the origin, an IPv6 address without brackets. */
    public String originHost() {
        return rule.originHost();
    }

    /** The port of the origin, 1 to 65535. */
    public int originPort() {
        return rule.originPort();
    }

    /** Returns the URL from which the cache key of a client's URL is made; see {@link RemapRule#keyUrl}. */
    public TargetUri keyUrl(TargetUri target) {
        return rule.keyUrl(target);
    }

    /** Returns the URL requested from the origin if the response may be stored; see {@link RemapRule#originUrl}. */
    public TargetUri originUrl(TargetUri target, TargetUri keyUrl) {
        return rule.originUrl(target, keyUrl);
    }

    /** Returns the primary key for the URL from {@link #keyUrl}. */
    public CacheKey keyOf(TargetUri keyUrl) {
        return rule.keyOf(keyUrl);
    }

    /** Returns the primary key with the parts of extensions; see {@link RemapRule#keyOf(TargetUri, byte[])}. */
    public CacheKey keyOf(TargetUri keyUrl, byte[] parts) {
        return rule.keyOf(keyUrl, parts);
    }

    /** Returns the primary key of a client's URL. */
    public CacheKey key(TargetUri target) {
        return rule.keyOf(rule.keyUrl(target));
    }

    /** Returns the request target for the origin; see {@link RemapRule#originTarget}. */
    public byte[] originTarget(TargetUri target) {
        return rule.originTarget(target);
    }

    /** Returns the complete URL requested from the origin, as sent to a parent proxy (RFC 9112 s3.2.2). */
    public byte[] originUrlBytes(TargetUri target) {
        return rule.originUrlBytes(target);
    }

    /** The name of the origin group for connections; null for the host of the rule. */
    public @Nullable String originGroup() {
        return rule.originGroup();
    }

    /** Returns the Host field for the origin; see {@link RemapRule#hostField}. */
    public String hostField(TargetUri target) {
        return rule.hostField(target);
    }
}
