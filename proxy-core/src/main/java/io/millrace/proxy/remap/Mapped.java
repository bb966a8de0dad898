package io.millrace.proxy.remap;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.http.TargetUri;

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

    /** What the rule decides about caching. */
    public CacheSettings settings() {
        return rule.settings();
    }

    /** The request target that the origin receives; see {@link RemapRule#originTarget}. */
    public byte[] originTarget(TargetUri target) {
        return rule.originTarget(target);
    }

    /** The Host field that the origin receives; see {@link RemapRule#hostField}. */
    public String hostField(TargetUri target) {
        return rule.hostField(target);
    }
}
