package io.millrace.proxy.exchange.settings;

import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.remap.RemapTable;
import io.netty.util.NetUtil;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Builds the invalidation scopes for a client's URL. Several rules may map the URL's host, and the URLs of cache keys
 * may have other hosts. Thread-safe: no state.
 */
public final class InvalidationScopes {
    private InvalidationScopes() {}

    /**
     * Returns scopes for the URL's host or path prefix, under every host name that the rules use in keys.
     *
     * @param url with the path {@code /} for the whole host
     */
    public static List<InvalidationScope> of(TargetUri url, List<RemapRule> rules) {
        List<InvalidationScope> scopes = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (RemapRule rule : rules) {
            add(rule.keyUrl(url), seen, scopes);
        }
        add(url, seen, scopes);
        return scopes;
    }

    /** Returns scopes for the URL's whole host, under every host name that the rules use in keys. */
    public static List<InvalidationScope> hosts(TargetUri url, List<RemapRule> rules) {
        List<InvalidationScope> scopes = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        for (RemapRule rule : rules) {
            InvalidationScope scope = InvalidationScope.host(rule.keyUrl(url));
            if (seen.add(scope.hash())) {
                scopes.add(scope);
            }
        }
        InvalidationScope own = InvalidationScope.host(url);
        if (seen.add(own.hash())) {
            scopes.add(own);
        }
        return scopes;
    }

    /** Returns scopes for a cache group of the URL's origin, under every host name that the rules use in keys. */
    public static List<InvalidationScope> group(TargetUri url, List<RemapRule> rules, String name) {
        List<InvalidationScope> scopes = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        for (RemapRule rule : rules) {
            addGroup(rule.keyUrl(url), name, seen, scopes);
        }
        addGroup(url, name, seen, scopes);
        return scopes;
    }

    /**
     * Returns true if purges by tag or by pattern with this URL's host cover every site. This is the case if no rule
     * maps the host. It is also the case if the host is an IP address or a name without a dot, and the rules that map
     * it name no host. Purge clients that are configured with the address of the cache send this address as the host.
     *
     * @param rules the remap rules for the host
     * @param forwards whether the forward proxy maps hosts without a rule
     */
    public static boolean coversEverySite(TargetUri url, List<RemapRule> rules, boolean forwards) {
        for (RemapRule rule : rules) {
            if (rule.config().from().host() != null) {
                return false;
            }
        }
        String host = url.host();
        return (rules.isEmpty() && !forwards)
                || host.startsWith("[")
                || host.indexOf('.') < 0
                || NetUtil.isValidIpV4Address(host);
    }

    /**
     * Returns a remark on a purge of a host or of a path prefix that probably covers nothing; empty for other purges.
     *
     * @param rules the remap rules for the host
     * @param forwards whether the forward proxy maps hosts without a rule
     */
    public static String noteOnHost(TargetUri url, List<RemapRule> rules, boolean forwards) {
        String portNote = noteOnPort(url);
        if (!portNote.isEmpty()) {
            return portNote;
        }
        String rulesNote = noteOnRules(rules, forwards);
        if (!rulesNote.isEmpty()) {
            return rulesNote;
        }
        if (!forwards && rules.stream().noneMatch(rule -> rule.mapsPortOf(url))) {
            return "no remap rule maps this host with this port; rules map "
                    + rules.stream()
                            .flatMap(rule -> rule.authorities(url.host()).stream())
                            .distinct()
                            .collect(Collectors.joining(", "));
        }
        return url.isDefaultPort() && coversEverySite(url, rules, forwards)
                ? "a URL with a port, such as http://" + url.host()
                        + ":8080/, belongs to another host: name it with its port"
                : "";
    }

    /**
     * Returns a remark on a purge by an HTTP request, of a host or of a path prefix, that probably covers nothing.
     * Empty for other purges. The Host of such a request may be the address of the cache, which is no site.
     *
     * @param rules the remap rules for the host
     * @param forwards whether the forward proxy maps hosts without a rule
     */
    public static String noteOnRequestedHost(TargetUri url, List<RemapRule> rules, boolean forwards) {
        String note = noteOnHost(url, rules, forwards);
        if (rules.isEmpty() || !coversEverySite(url, rules, forwards)) {
            return note;
        }
        return "no remap rule names the host " + url.host()
                + ", so no other host is covered; send the name of a site as" + " Host to purge the site"
                + (note.isEmpty() ? "" : "; " + note);
    }

    /**
     * Returns a remark on a host that no rule maps; empty for other hosts.
     *
     * @param rules the remap rules for the host
     * @param forwards whether the forward proxy maps hosts without a rule
     */
    public static String noteOnRules(List<RemapRule> rules, boolean forwards) {
        return rules.isEmpty() && !forwards ? "no remap rule maps this host" : "";
    }

    /**
     * Returns a remark on a purge of one URL that probably covers nothing; empty for other purges.
     *
     * @param isMapped whether a rule or the forward proxy maps the URL
     */
    public static String noteOnUrl(TargetUri url, boolean isMapped) {
        String portNote = noteOnPort(url);
        return portNote.isEmpty() && !isMapped ? "no remap rule maps this URL" : portNote;
    }

    /**
     * Returns a remark on a URL whose port is the default port of the other scheme, such as {@code http://h:443/}.
     * Empty for other ports. Responses of {@code https://h/} have a different cache key.
     */
    public static String noteOnPort(TargetUri url) {
        int otherDefault = url.inScheme(!url.isSecure()).port();
        return url.port() == otherDefault
                ? "port " + otherDefault + " is not the default port of " + (url.isSecure() ? "https" : "http")
                        + ": without a port, a purge covers http and https"
                : "";
    }

    /**
     * Returns the sites to which the tags of responses from the URL's host belong. For each rule, this is the
     * configured site, or otherwise the host in cache keys. The URL's host is added.
     */
    public static Set<String> sites(TargetUri url, List<RemapRule> rules) {
        Set<String> sites = new LinkedHashSet<>();
        for (RemapRule rule : rules) {
            String site = rule.config().site();
            sites.add(site == null ? rule.keyUrl(url).host() : site);
        }
        sites.add(url.host());
        return sites;
    }

    /**
     * Returns a scope for each tag on each site.
     *
     * @param sites in lower case; empty for every site
     */
    public static List<InvalidationScope> tags(Tags tags, Set<String> sites) {
        List<InvalidationScope> scopes = new ArrayList<>();
        for (byte[] tag : tags.each()) {
            if (sites.isEmpty()) {
                scopes.add(InvalidationScope.tag(tag, null));
            }
            for (String site : sites) {
                scopes.add(InvalidationScope.tag(tag, site));
            }
        }
        return scopes;
    }

    /** Returns scopes for URLs, under every key URL of the rules that map them. */
    public static List<InvalidationScope> urls(List<TargetUri> urls, RemapTable table) {
        List<InvalidationScope> scopes = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        for (TargetUri url : urls) {
            List<TargetUri> keyUrls = new ArrayList<>();
            table.matches(url).forEach(mapped -> keyUrls.add(mapped.keyUrl(url)));
            keyUrls.add(table.keyUrl(url));
            for (TargetUri keyUrl : keyUrls) {
                InvalidationScope scope = InvalidationScope.url(keyUrl);
                if (seen.add(scope.hash())) {
                    scopes.add(scope);
                }
            }
        }
        return scopes;
    }

    private static void addGroup(TargetUri origin, String name, Set<Long> seen, List<InvalidationScope> scopes) {
        InvalidationScope scope = InvalidationScope.group(origin, name);
        if (seen.add(scope.hash())) {
            scopes.add(scope);
        }
    }

    private static void add(TargetUri url, Set<String> seen, List<InvalidationScope> scopes) {
        InvalidationScope scope = InvalidationScope.prefix(url);
        if (seen.add(scope.hash() + " " + Arrays.toString(scope.prefix()))) {
            scopes.add(scope);
        }
    }
}
