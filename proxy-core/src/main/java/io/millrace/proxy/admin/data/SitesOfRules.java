package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.vendor.SiteSource;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.exchange.settings.InvalidationScopes;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.remap.RemapTable;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
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
                    "a rule of the site " + site + " has no fixed host, so a purge of the whole site is not"
                            + " possible; purge by tag, or purge each host; nothing was purged");
        }
        return hosts;
    }

    /**
     * Returns the hosts of a site, each with its port if that is not the default. Returns null if one of its rules has
     * no fixed host.
     *
     * <p>A rule without {@code site} belongs to the site with the name of its host. The host is not added if all of
     * this is true: another rule names the site with {@code site}, the name is an IP address or has no dot, and only
     * rules without a host map it. Purge clients that are configured with the address of the cache send such a host.
     */
    static @Nullable List<String> hosts(RemapTable table, String site) {
        Set<String> hosts = new LinkedHashSet<>();
        List<RemapRule> named = table.rulesOfSites(Set.of(site));
        for (RemapRule rule : named) {
            String host = rule.config().from().host();
            if (host == null || rule.config().verb().isRegex()) {
                return null;
            }
            hosts.addAll(rule.authorities(host));
        }
        List<RemapRule> unnamed = rulesWithoutSite(table, site);
        TargetUri host = root(site);
        boolean isNameOnly = !named.isEmpty()
                && host != null
                && InvalidationScopes.coversEverySite(host, table.rulesUnder(host), table.forwards());
        if (!isNameOnly) {
            unnamed.forEach(rule -> hosts.addAll(rule.authorities(site)));
        }
        return List.copyOf(hosts);
    }

    @Override
    public List<Owner> owners(String url, boolean isWholeHost) throws AdminException {
        if (!(TargetUri.parseAbsolute(url) instanceof TargetUri target)) {
            throw DataPlaneAdmin.notUrl(url);
        }
        return owners(rules.get(), target, isWholeHost);
    }

    /** Returns the sites of the rules that may map a URL with either scheme; see {@link SiteSource#owners}. */
    static List<Owner> owners(RemapTable table, TargetUri url, boolean isWholeHost) {
        List<Owner> owners = new ArrayList<>();
        for (RemapRule rule : isWholeHost ? table.rulesUnder(url) : PurgePermission.rulesOf(url, table)) {
            if (rule.config().verb().isForward()) {
                owners.add(new Owner(PurgePermission.siteOf(rule, url), mappedUrl(table, rule, url), owning(rule)));
            }
        }
        if (owners.isEmpty()) {
            owners.add(new Owner(url.host().toLowerCase(Locale.ROOT), url.asString(), null));
        }
        return owners;
    }

    /**
     * Returns a URL that the rule maps. It is the given URL, else the given URL with the other scheme, else a URL from
     * the rule's pattern.
     */
    private static String mappedUrl(RemapTable table, RemapRule rule, TargetUri url) {
        for (TargetUri each : List.of(url, url.inOtherScheme())) {
            if (table.matches(each).stream().anyMatch(mapped -> mapped.rule().equals(rule))) {
                return each.asString();
            }
        }
        RuleUrl from = rule.config().from();
        return from.host() == null ? "http://" + url.authority() + from.path() : from.toString();
    }

    private static OwningRule owning(RemapRule rule) {
        RemapRuleConfig config = rule.config();
        return new OwningRule(
                "remap[" + rule.index() + "] (" + config.verb().word() + ": " + config.from() + ")",
                config.from().host() == null);
    }
}
