package io.millrace.proxy.purge;

import io.millrace.proxy.caching.CacheGroups;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.TargetUri;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What is to be invalidated besides single URLs. URLs are those that keys stand for. Immutable.
 *
 * @param kind how much
 * @param hash of the host, the group or the URL, 0 for everything and for tags
 * @param prefix the beginning of paths, in the normal form of cache keys; null but for a prefix. Never to be changed
 * @param tag the bytes of a tag, else null. Never to be changed
 * @param site of a tag: the site, null for every site
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record InvalidationScope(
        InvalidationKind kind,
        long hash,
        byte @Nullable [] prefix,
        byte @Nullable [] tag,
        @Nullable String site) {
    /** Longest prefix in bytes; a longer one stands for its host. */
    public static final int PREFIX_LENGTH_MAX = 2048;

    private static InvalidationScope of(InvalidationKind kind, long hash) {
        return new InvalidationScope(kind, hash, null, null, null);
    }

    /**
     * Returns whether the scope covers a stored response.
     *
     * @param url the URL of its cache key
     */
    public boolean covers(TargetUri url, Labels labels) {
        return switch (kind) {
            case ALL -> true;
            case HOST -> InvalidationTable.hostHash(url) == hash;
            case PREFIX -> InvalidationTable.hostHash(url) == hash && begins(url);
            case URL -> InvalidationTable.urlHash(url) == hash;
            case GROUP -> Arrays.stream(labels.groups()).anyMatch(group -> group == hash);
            case TAG, TAG_EVERYWHERE -> isOfSite(url, labels.tags()) && hasTag(labels.tags());
            case ALL_GROUPS, STAMPED, ALL_TAGS, TAG_KEY, TAGS, UNDONE -> false;
        };
    }

    /** Returns whether the scope depends on the URL only. */
    public boolean isOfUrls() {
        return kind == InvalidationKind.HOST || kind == InvalidationKind.PREFIX || kind == InvalidationKind.URL;
    }

    private boolean begins(TargetUri url) {
        byte[] path = PrefixStamps.normal(url);
        byte[] wanted = prefix;
        return wanted != null
                && path.length >= wanted.length
                && Arrays.equals(path, 0, wanted.length, wanted, 0, wanted.length);
    }

    private boolean isOfSite(TargetUri url, Tags tags) {
        return site == null || site.equals(tags.site() == null ? url.host() : tags.site());
    }

    private boolean hasTag(Tags tags) {
        byte[] wanted = tag;
        return wanted != null && tags.each().stream().anyMatch(one -> Arrays.equals(one, wanted));
    }

    /** Everything. */
    public static InvalidationScope all() {
        return of(InvalidationKind.ALL, 0);
    }

    /** Everything of a URL's host, in both schemes. */
    public static InvalidationScope host(TargetUri url) {
        return of(InvalidationKind.HOST, InvalidationTable.hostHash(url));
    }

    /** What a URL's host has whose path and query begin as those of the URL. */
    public static InvalidationScope prefix(TargetUri url) {
        byte[] prefix = PrefixStamps.normal(url);
        boolean whole = prefix.length > PREFIX_LENGTH_MAX || (prefix.length == 1 && prefix[0] == '/');
        return whole
                ? host(url)
                : new InvalidationScope(InvalidationKind.PREFIX, InvalidationTable.hostHash(url), prefix, null, null);
    }

    /** The members of a cache group of a URL's origin (RFC 9875 s2.1). */
    public static InvalidationScope group(TargetUri origin, String name) {
        return of(InvalidationKind.GROUP, CacheGroups.hash(origin, name));
    }

    /** One URL, in both schemes; softly. */
    public static InvalidationScope url(TargetUri url) {
        return of(InvalidationKind.URL, InvalidationTable.urlHash(url));
    }

    /** The responses with a tag, on one site, in lower case, or on every site. */
    public static InvalidationScope tag(byte[] tag, @Nullable String site) {
        InvalidationKind kind = site == null ? InvalidationKind.TAG_EVERYWHERE : InvalidationKind.TAG;
        return new InvalidationScope(kind, 0, null, tag, site);
    }
}
