package io.millrace.proxy.purge;

import io.millrace.proxy.caching.CacheGroups;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.TargetUri;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The set of stored responses that a purge covers. URLs are compared in the form of cache keys. Immutable.
 *
 * @param kind the kind of scope
 * @param hash hash of the host, the group or the URL; 0 for everything and for tags
 * @param prefix the path prefix in the normal form of cache keys, for the kind PREFIX; else null; must not be changed
 * @param tag the bytes of the tag, for kinds of tags; else null; must not be changed
 * @param site the site to which the tag belongs; null for every site and for other kinds
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record InvalidationScope(
        InvalidationKind kind,
        long hash,
        byte @Nullable [] prefix,
        byte @Nullable [] tag,
        @Nullable String site) {
    /** Limit of a prefix in bytes. A purge by a longer prefix purges the whole host. */
    public static final int PREFIX_LENGTH_MAX = 2048;

    private static InvalidationScope of(InvalidationKind kind, long hash) {
        return new InvalidationScope(kind, hash, null, null, null);
    }

    /**
     * Returns true if the scope covers a stored response.
     *
     * @param url the URL in the cache key of the response
     */
    public boolean covers(TargetUri url, Labels labels) {
        return switch (kind) {
            case ALL -> true;
            case HOST -> ScopeHash.hostHash(url) == hash;
            case PREFIX -> ScopeHash.hostHash(url) == hash && hasPrefix(url);
            case URL -> ScopeHash.urlHash(url) == hash;
            case GROUP -> Arrays.stream(labels.groups()).anyMatch(group -> group == hash);
            case TAG, TAG_EVERYWHERE -> isOnSite(url, labels.tags()) && hasTag(labels.tags());
            case ALL_GROUPS,
                    JOURNAL_LOST,
                    ALL_TAGS,
                    TAG_KEY,
                    TAGS,
                    UNDONE,
                    PATTERN,
                    PATTERN_RETIRED,
                    FLEET_POSITION,
                    FLEET_PURGE -> false;
        };
    }

    /** Returns true if the URL alone determines whether a response is covered. */
    public boolean isOfUrls() {
        return kind == InvalidationKind.HOST || kind == InvalidationKind.PREFIX || kind == InvalidationKind.URL;
    }

    private boolean hasPrefix(TargetUri url) {
        byte[] path = PrefixStamps.normal(url);
        byte[] wantedPrefix = prefix;
        return wantedPrefix != null
                && path.length >= wantedPrefix.length
                && Arrays.equals(path, 0, wantedPrefix.length, wantedPrefix, 0, wantedPrefix.length);
    }

    private boolean isOnSite(TargetUri url, Tags tags) {
        return site == null || site.equals(tags.site() == null ? url.host() : tags.site());
    }

    private boolean hasTag(Tags tags) {
        byte[] wantedTag = tag;
        return wantedTag != null && tags.each().stream().anyMatch(one -> Arrays.equals(one, wantedTag));
    }

    /** Creates the scope of everything. */
    public static InvalidationScope all() {
        return of(InvalidationKind.ALL, 0);
    }

    /** Creates the scope of a URL's host, for http and https. */
    public static InvalidationScope host(TargetUri url) {
        return of(InvalidationKind.HOST, ScopeHash.hostHash(url));
    }

    /** Creates the scope of a prefix: all URLs of the host that begin with the given URL. */
    public static InvalidationScope prefix(TargetUri url) {
        byte[] prefix = PrefixStamps.normal(url);
        boolean whole = prefix.length > PREFIX_LENGTH_MAX || (prefix.length == 1 && prefix[0] == '/');
        return whole
                ? host(url)
                : new InvalidationScope(InvalidationKind.PREFIX, ScopeHash.hostHash(url), prefix, null, null);
    }

    /** Creates the scope of a cache group of a URL's origin (RFC 9875 section 2.1). */
    public static InvalidationScope group(TargetUri origin, String name) {
        return of(InvalidationKind.GROUP, CacheGroups.hash(origin, name));
    }

    /**
     * Creates the scope of one URL, for http and https. It is used for soft invalidations, and for URLs that an
     * extension gives several cache keys.
     */
    public static InvalidationScope url(TargetUri url) {
        return of(InvalidationKind.URL, ScopeHash.urlHash(url));
    }

    /** Creates the scope of responses with a tag, on one site (in lower case) or on every site. */
    public static InvalidationScope tag(byte[] tag, @Nullable String site) {
        InvalidationKind kind = site == null ? InvalidationKind.TAG_EVERYWHERE : InvalidationKind.TAG;
        return new InvalidationScope(kind, 0, null, tag, site);
    }
}
