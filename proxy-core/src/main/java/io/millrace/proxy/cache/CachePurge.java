package io.millrace.proxy.cache;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A purge with the options of {@code millctl purge}. A hard purge removes responses. A soft one makes them stale: they
 * are validated before their next use. Immutable.
 *
 * @param kind the kind
 * @param target the URL, host, prefix, name of a group, expression or wildcard; empty for tags and everything
 * @param host the host of a cache group; null for other kinds
 * @param tags the tags; empty for other kinds
 * @param site the site of the tags, null for all sites
 * @param isSoft whether the purge is soft
 * @param isCounted whether the result contains the number of covered responses
 */
public record CachePurge(
        Kind kind,
        String target,
        @Nullable String host,
        List<String> tags,
        @Nullable String site,
        boolean isSoft,
        boolean isCounted) {
    /** The kinds of purges. */
    public enum Kind {
        /** All variants of one URL. */
        URL,
        /** All URLs of a host. */
        HOST,
        /** All URLs that begin with a text. */
        PREFIX,
        /** A cache group of a host (RFC 9875). */
        GROUP,
        /** All responses that have one of the tags. */
        TAGS,
        /** All responses for which an expression holds. */
        WHERE,
        /** All URLs in which a regular expression matches. */
        REGEX,
        /** All URLs that a text with {@code *} describes. */
        WILDCARD,
        /** Everything. */
        ALL
    }

    /** Copies the list. */
    public CachePurge {
        tags = List.copyOf(tags);
    }

    private static CachePurge of(Kind kind, String target) {
        return new CachePurge(kind, target, null, List.of(), null, false, false);
    }

    /** Returns the purge of an absolute URL. A URL with the default port is purged in both schemes, http and https. */
    public static CachePurge url(String url) {
        return of(Kind.URL, url);
    }

    /** Returns the purge of a host, with its port if not the default. */
    public static CachePurge host(String host) {
        return of(Kind.HOST, host);
    }

    /** Returns the purge of all URLs that begin with a URL. */
    public static CachePurge prefix(String url) {
        return of(Kind.PREFIX, url);
    }

    /** Returns the purge of a cache group of a host. */
    public static CachePurge group(String host, String group) {
        return new CachePurge(Kind.GROUP, group, host, List.of(), null, false, false);
    }

    /** Returns the purge of all responses that have at least one of the tags, on every site. */
    public static CachePurge tagged(String... tags) {
        return new CachePurge(Kind.TAGS, "", null, List.of(tags), null, false, false);
    }

    /** Returns the purge of responses for which an expression holds, such as {@code status == 404}. */
    public static CachePurge where(String expression) {
        return of(Kind.WHERE, expression);
    }

    /** Returns the purge of URLs in which a regular expression in RE2 syntax matches. */
    public static CachePurge regex(String expression) {
        return of(Kind.REGEX, expression);
    }

    /** Returns the purge of URLs by a text in which {@code *} stands for any text. */
    public static CachePurge wildcard(String url) {
        return of(Kind.WILDCARD, url);
    }

    /** Returns the purge of everything. */
    public static CachePurge all() {
        return of(Kind.ALL, "");
    }

    /** Returns the same purge, soft. */
    public CachePurge soft() {
        return new CachePurge(kind, target, host, tags, site, true, isCounted);
    }

    /** Returns the same purge with a count of the covered responses in its result. Needs a storage path. */
    public CachePurge counted() {
        return new CachePurge(kind, target, host, tags, site, isSoft, true);
    }

    /**
     * Returns the same purge of tags for one site only.
     *
     * @param name a host, or the value of {@code remap[].site}
     */
    public CachePurge onSite(String name) {
        return new CachePurge(kind, target, host, tags, name, isSoft, isCounted);
    }
}
