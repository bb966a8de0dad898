package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.PurgeRights;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.remap.RemapTable;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Compares purges with the rights of the token that requests them. The site of a remap rule is its key {@code site}, or
 * the host of a rule without this key. Thread-safe: no state.
 */
final class PurgePermission {
    private PurgePermission() {}

    /**
     * Checks the kind of a purge. A token that is limited to sites has no right to kinds of purges that cover all
     * sites. Further checks compare the sites of the other kinds.
     *
     * @throws AdminException if the token has no right to this purge
     */
    static void checkKind(AdminCaller caller, Scope scope) throws AdminException {
        PurgeRights rights = caller.purgeRights();
        if (rights == null) {
            return;
        }
        checkKind(caller, rights, scope.kind());
        boolean isBounded =
                switch (scope.kind()) {
                    // SitePatterns limits a pattern to the sites.
                    case URL, HOST, PREFIX, GROUP, TAG, PATTERN -> true;
                    // Kinds that are added later are refused until their sites are checked here.
                    default -> false;
                };
        if (!isBounded && !rights.sites().isEmpty()) {
            throw refused(caller, rights, "everything");
        }
    }

    /**
     * Checks the site of a purge by tag. Also checks each rule without a site that maps the host with this name, or
     * whose cache keys contain this host. The purge may cover the responses of such a rule.
     *
     * @param site null for every site
     */
    static void checkTags(AdminCaller caller, @Nullable String site, RemapTable table) throws AdminException {
        PurgeRights rights = caller.purgeRights();
        if (rights == null || rights.sites().isEmpty()) {
            return;
        }
        if (site == null) {
            throw refused(caller, rights, "tags of every site; name one with 'site'");
        }
        String name = site.toLowerCase(Locale.ROOT);
        if (!rights.hasSite(name)) {
            throw refused(caller, rights, name);
        }
        if (TargetUri.parseAbsolute("http://" + name + "/") instanceof TargetUri host) {
            for (RemapRule rule : table.rulesConcernedBy(host)) {
                if (rule.config().site() == null) {
                    check(caller, rights, sitesOf(rule, host, table));
                }
            }
        }
    }

    /**
     * Checks the sites of a purge of a host, a prefix or a group. These are the sites of every rule whose responses the
     * purge may cover.
     */
    static void checkHost(AdminCaller caller, TargetUri url, RemapTable table) throws AdminException {
        PurgeRights rights = caller.purgeRights();
        if (rights != null && !rights.sites().isEmpty()) {
            check(caller, rights, sites(url, table.rulesUnder(url)));
            for (RemapRule rule : table.rulesConcernedBy(url)) {
                check(caller, rights, sitesOf(rule, url, table));
            }
        }
    }

    /** Checks the kind and the sites of the purge of a single URL. */
    static void checkUrl(AdminCaller caller, TargetUri url, RemapTable table) throws AdminException {
        PurgeRights rights = caller.purgeRights();
        if (rights == null) {
            return;
        }
        checkKind(caller, rights, Kind.URL);
        if (!rights.sites().isEmpty()) {
            check(caller, rights, sites(url, rulesOf(url, table)));
        }
    }

    private static void check(AdminCaller caller, PurgeRights rights, Set<String> sites) throws AdminException {
        for (String site : sites) {
            if (!rights.hasSite(site)) {
                throw refused(caller, rights, site);
            }
        }
    }

    /**
     * Returns the sites of a rule whose responses a purge of a host may cover. This includes rules of another host with
     * the same host in cache keys.
     */
    private static Set<String> sitesOf(RemapRule rule, TargetUri url, RemapTable table) {
        if (!rule.config().verb().isForward()) {
            return Set.of();
        }
        if (rule.config().site() != null || table.rulesUnder(url).contains(rule)) {
            return sites(url, List.of(rule));
        }
        String host = rule.config().from().host();
        // A rule without the key "site" belongs to the site of its host. No token has the site "every host", so the
        // check refuses the purge of a rule without a host, with this text in the error.
        return Set.of(host == null ? "every host" : host.toLowerCase(Locale.ROOT));
    }

    /** Returns the rules that map a URL, in either scheme and on any port. */
    static List<RemapRule> rulesOf(TargetUri url, RemapTable table) {
        Set<RemapRule> rules = new LinkedHashSet<>();
        table.matches(url).forEach(mapped -> rules.add(mapped.rule()));
        table.matches(url.inOtherScheme()).forEach(mapped -> rules.add(mapped.rule()));
        return List.copyOf(rules);
    }

    /** Returns the sites of a client's URL. A rule without a site counts as the site of the URL's host. */
    static Set<String> sites(TargetUri url, Collection<RemapRule> rules) {
        Set<String> sites = new LinkedHashSet<>();
        for (RemapRule rule : rules) {
            if (!rule.config().verb().isForward()) {
                continue;
            }
            sites.add(siteOf(rule, url));
        }
        if (sites.isEmpty()) {
            sites.add(url.host().toLowerCase(Locale.ROOT));
        }
        return sites;
    }

    /** Returns the site of a rule that maps a URL, in lower case: its key {@code site}, else the URL's host. */
    static String siteOf(RemapRule rule, TargetUri url) {
        String site = rule.config().site();
        return (site == null ? url.host() : site).toLowerCase(Locale.ROOT);
    }

    private static void checkKind(AdminCaller caller, PurgeRights rights, Kind kind) throws AdminException {
        String word = ScopedPurges.word(kind);
        if (!rights.hasKind(word)) {
            throw new AdminException(
                    403,
                    "kind-refused",
                    "token '" + caller.token() + "' does not allow purges of the kind " + word + "; its kinds are "
                            + list(rights.kinds()) + "; nothing was purged");
        }
    }

    private static AdminException refused(AdminCaller caller, PurgeRights rights, @Nullable String site) {
        return new AdminException(
                403,
                "site-refused",
                "token '" + caller.token() + "' does not allow a purge of " + site + "; its sites are "
                        + list(rights.sites()) + "; nothing was purged");
    }

    private static String list(Set<String> words) {
        return String.join(", ", words.stream().sorted().toList());
    }
}
