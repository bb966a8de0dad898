package io.millrace.proxy.exchange;

import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.remap.RemapRule;
import java.util.ArrayList;
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
        Set<Long> hosts = new HashSet<>();
        for (RemapRule rule : rules) {
            add(rule.keyUrl(url), hosts, scopes);
        }
        add(url, hosts, scopes);
        return scopes;
    }

    private static void add(TargetUri url, Set<Long> hosts, List<InvalidationScope> scopes) {
        InvalidationScope scope = InvalidationScope.prefix(url);
        if (hosts.add(scope.hash())) {
            scopes.add(scope);
        }
    }
}
