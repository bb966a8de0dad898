package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.remap.RemapRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What to invalidate for a client's URL whose host several rules may map: keys stand for URLs that may have another host. Thread-safe:
 * no state.
 */
public final class ScopesOfRules {
    private ScopesOfRules() {}

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
