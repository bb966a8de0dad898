package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.vendor.SiteSource;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.remap.RemapTable;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The sites of the remap rules in force: {@code remap[].site}, or the requested host for rules without it. Thread-safe.
 */
final class SitesOfRules implements SiteSource {
    private final Supplier<RemapTable> rules;

    SitesOfRules(Supplier<RemapTable> rules) {
        this.rules = rules;
    }

    @Override
    public boolean isKnown(String site) {
        return isKnown(rules.get(), site);
    }

    /** Returns true if the rules of a table can store responses of a site. The name of the site is in lower case. */
    static boolean isKnown(RemapTable table, String site) {
        return !table.rulesOfSites(Set.of(site)).isEmpty()
                || !rulesWithoutSite(table, site).isEmpty();
    }

    /** Returns the rules without site for a host. */
    private static List<RemapRule> rulesWithoutSite(RemapTable table, String host) {
        TargetUri url = root(host);
        return url == null
                ? List.of()
                : table.rulesUnder(url).stream()
                        .filter(rule -> rule.config().site() == null
                                && rule.config().verb().isForward())
                        .toList();
    }

    private static @Nullable TargetUri root(String host) {
        return TargetUri.parseAbsolute("http://" + host + "/") instanceof TargetUri url
                        && url.host().equalsIgnoreCase(host)
                ? url
                : null;
    }

    @Override
    public List<String> hosts(String site) throws AdminException {
        List<String> hosts = hosts(rules.get(), site);
        if (hosts == null) {
            throw new AdminException(
                    400,
                    "bad-request",
                    "a rule of the site " + site + " has no fixed host, so that everything of the site cannot be"
                            + " purged; purge by tag, or each host; nothing was purged");
        }
        return hosts;
    }

    /**
     * Returns the hosts of a site, each with its port if that is not the default. Returns null if one of its rules has
     * no fixed host.
     */
    static @Nullable List<String> hosts(RemapTable table, String site) {
        Set<String> hosts = new LinkedHashSet<>();
        for (RemapRule rule : table.rulesOfSites(Set.of(site))) {
            String host = rule.config().from().host();
            if (host == null || rule.config().verb().isRegex()) {
                return null;
            }
            hosts.addAll(rule.authorities(host));
        }
        for (RemapRule rule : rulesWithoutSite(table, site)) {
            hosts.addAll(rule.authorities(site));
        }
        return List.copyOf(hosts);
    }

    @Override
    public Set<String> sites(String url, boolean isWholeHost) throws AdminException {
        if (!(TargetUri.parseAbsolute(url) instanceof TargetUri target)) {
            throw DataPlaneAdmin.notUrl(url);
        }
        RemapTable table = rules.get();
        return PurgePermission.sites(
                target, isWholeHost ? table.rulesUnder(target) : PurgePermission.rulesOf(target, table));
    }
}
