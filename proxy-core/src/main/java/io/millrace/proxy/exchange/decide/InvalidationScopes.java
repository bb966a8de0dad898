package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.remap.RemapTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What to invalidate for a client's URL whose host several rules may map: keys stand for URLs that may have another host. Thread-safe:
 * no state.
 */
public final class InvalidationScopes {
    private InvalidationScopes() {}

    /**
     * All of the URL's host, or what begins as it does, by every name that the rules have for the host.
     *
     * @param url with the path {@code /} for all of the host
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

    /** All of a URL's host, whatever its path, by every name that the rules have for it. */
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

    /** A cache group of a URL's origin, by every name that the rules have for its host. */
    public static List<InvalidationScope> group(TargetUri url, List<RemapRule> rules, String name) {
        List<InvalidationScope> scopes = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        for (RemapRule rule : rules) {
            addGroup(rule.keyUrl(url), name, seen, scopes);
        }
        addGroup(url, name, seen, scopes);
        return scopes;
    }

    /** The sites that tags of responses to a URL's host are of: those of the rules, or the hosts that keys have. */
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
     * Each tag on each site.
     *
     * @param sites in lower case; none for every site
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

    /** URLs, by every name that the rules which map them have for them. */
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
