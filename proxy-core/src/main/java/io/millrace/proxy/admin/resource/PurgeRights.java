package io.millrace.proxy.admin.resource;

import java.util.Set;

/**
 * The purges that a token may request. Immutable.
 *
 * @param sites in lower case; empty for every site
 * @param kinds {@code url}, {@code host}, {@code prefix}, {@code group}, {@code tag}, {@code pattern},
 *     {@code all}; empty for every kind
 */
public record PurgeRights(Set<String> sites, Set<String> kinds) {
    /** Returns true if purges of a kind are allowed. */
    public boolean hasKind(String kind) {
        return kinds.isEmpty() || kinds.contains(kind);
    }

    /** Returns true if purges of a site are allowed. */
    public boolean hasSite(String site) {
        return sites.isEmpty() || sites.contains(site);
    }
}
