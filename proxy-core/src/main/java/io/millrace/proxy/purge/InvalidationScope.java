package io.millrace.proxy.purge;

import io.millrace.proxy.caching.CacheGroups;
import io.millrace.proxy.http.TargetUri;
import org.jspecify.annotations.Nullable;

/**
 * What is to be invalidated besides single URLs. URLs are those that keys stand for. Immutable.
 *
 * @param kind how much
 * @param hash of the host or the group, 0 for everything
 * @param prefix the beginning of paths, in the normal form of cache keys; null but for a prefix. Never to be changed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record InvalidationScope(InvalidationKind kind, long hash, byte @Nullable [] prefix) {
    /** Longest prefix in bytes; a longer one stands for its host. */
    public static final int PREFIX_LENGTH_MAX = 2048;

    /** Everything. */
    public static InvalidationScope all() {
        return new InvalidationScope(InvalidationKind.ALL, 0, null);
    }

    /** Everything of a URL's host, in both schemes. */
    public static InvalidationScope host(TargetUri url) {
        return new InvalidationScope(InvalidationKind.HOST, InvalidationTable.hostHash(url), null);
    }

    /** What a URL's host has whose path and query begin as those of the URL. */
    public static InvalidationScope prefix(TargetUri url) {
        byte[] prefix = PrefixStamps.normal(url);
        boolean whole = prefix.length > PREFIX_LENGTH_MAX || (prefix.length == 1 && prefix[0] == '/');
        return whole
                ? host(url)
                : new InvalidationScope(InvalidationKind.PREFIX, InvalidationTable.hostHash(url), prefix);
    }

    /** The members of a cache group of a URL's origin (RFC 9875 s2.1). */
    public static InvalidationScope group(TargetUri origin, String name) {
        return new InvalidationScope(InvalidationKind.GROUP, CacheGroups.hash(origin, name), null);
    }
}
