package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.PurgeRights;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.remap.RemapTable;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Limits purges by pattern to the hosts of a token's sites. A site is {@code remap[].site}, or the host of a rule
 * without it. Thread-safe: no state.
 */
final class SitePatterns {
    private SitePatterns() {}

    /**
     * Returns an expression that is true only for responses of the caller's sites. For callers without such a limit the
     * expression is unchanged.
     *
     * @throws AdminException if a rule of a site has no fixed host, or if a host that the expression could match
     *     serves responses of other sites too
     */
    static String limited(PurgedPattern pattern, AdminCaller caller, RemapTable rules) throws AdminException {
        PurgeRights rights = caller.purgeRights();
        if (rights == null || rights.sites().isEmpty()) {
            return pattern.text();
        }
        Set<String> hosts = new LinkedHashSet<>();
        for (String site : rights.sites().stream().sorted().toList()) {
            List<String> siteHosts = SitesOfRules.hosts(rules, site);
            if (siteHosts == null) {
                throw refused(caller, "a rule of the site " + site + " has no fixed host");
            }
            // If no rule matches a request, its site is the request's host.
            for (String host : siteHosts.isEmpty() ? List.of(site) : siteHosts) {
                hosts.addAll(keyHosts(host, pattern, caller, rules));
            }
        }
        if (hosts.isEmpty()) {
            throw refused(caller, "the expression holds for no host of these sites");
        }
        String literals = hosts.stream().map(Expression::literal).collect(Collectors.joining(", "));
        return "host in (" + literals + ") && (" + pattern.text() + ")";
    }

    /**
     * Returns the hosts that cache keys contain for requests to a host. The result is empty if the pattern covers none
     * of them. Checks the caller's right to these hosts.
     */
    private static Set<String> keyHosts(String host, PurgedPattern pattern, AdminCaller caller, RemapTable rules)
            throws AdminException {
        if (!(TargetUri.parseAbsolute("http://" + host + "/") instanceof TargetUri url)) {
            return Set.of();
        }
        Set<String> hosts = new LinkedHashSet<>();
        hosts.add(url.authority());
        rules.rulesUnder(url).forEach(rule -> hosts.add(rule.keyUrl(url).authority()));
        if (hosts.stream().noneMatch(pattern::couldCoverHost)) {
            return Set.of();
        }
        PurgePermission.checkHost(caller, url, rules);
        return hosts;
    }

    private static AdminException refused(AdminCaller caller, String why) {
        return new AdminException(
                403,
                "site-refused",
                "token '" + caller.token()
                        + "' is limited to sites, and the purge by pattern cannot be limited to them: " + why
                        + "; nothing was purged");
    }
}
