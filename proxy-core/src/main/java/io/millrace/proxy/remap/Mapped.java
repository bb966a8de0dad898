package io.millrace.proxy.remap;

import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.http.TargetUri;
import org.jspecify.annotations.Nullable;

/**
 * The URL is mapped. There is one instance for each rule; what depends on the request is asked for with its target.
 * Immutable.
 *
 * @param rule the rule that maps it
 */
public record Mapped(RemapRule rule) implements RemapResult {
    /** {@code http} or {@code https}. */
    public String originScheme() {
        return rule.originScheme();
    }

    /** Lower-case name or address of the origin, an IPv6 address without brackets. */
    public String originHost() {
        return rule.originHost();
    }

    /** 1 to 65535. */
    public int originPort() {
        return rule.originPort();
    }

    /** The URL that a client's URL is stored for; see {@link RemapRule#keyUrl}. */
    public TargetUri keyUrl(TargetUri target) {
        return rule.keyUrl(target);
    }

    /** The URL that the origin is asked for when its answer may be stored; see {@link RemapRule#originUrl}. */
    public TargetUri originUrl(TargetUri target, TargetUri keyUrl) {
        return rule.originUrl(target, keyUrl);
    }

    /** The primary key, given what {@link #keyUrl} made of the client's URL. */
    public CacheKey keyOf(TargetUri keyUrl) {
        return rule.keyOf(keyUrl);
    }

    /** The primary key of a client's URL. */
    public CacheKey key(TargetUri target) {
        return rule.keyOf(rule.keyUrl(target));
    }

    /** The request target that the origin receives; see {@link RemapRule#originTarget}. */
    public byte[] originTarget(TargetUri target) {
        return rule.originTarget(target);
    }

    /** The whole URL that the origin is asked for, as a proxy on the way there receives it (RFC 9112 s3.2.2). */
    public byte[] originUrlBytes(TargetUri target) {
        return rule.originUrlBytes(target);
    }

    /** The name of the group of origins that connections go to; null for the host of the rule. */
    public @Nullable String origins() {
        return rule.config().origins();
    }

    /** The Host field that the origin receives; see {@link RemapRule#hostField}. */
    public String hostField(TargetUri target) {
        return rule.hostField(target);
    }
}
