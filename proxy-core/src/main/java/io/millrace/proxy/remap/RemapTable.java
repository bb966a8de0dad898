package io.millrace.proxy.remap;

import io.millrace.proxy.caching.CacheKey;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.RemapRuleConfig;
import io.millrace.proxy.config.RuleUrl;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All remap rules of a configuration. A lookup hashes the host and reads the path once; the number of rules does not
 * matter. Precedence is Traffic Server's: a rule with a host goes before every rule without, and among rules for the
 * same scheme, host and port the first one listed whose path begins the request's path wins, so that {@code /} before
 * {@code /stuff/} hides it. A rule that names no port matches every port that no rule for the host and path names.
 *
 * <p>The answer depends on the URL alone and treats paths that share a cache key alike. Otherwise a response from one
 * rule's origin could be served under another's.
 *
 * <p>Immutable.
 */
public final class RemapTable {
    private static final byte[] ROOT = {'/'};

    private final List<RemapRule> rules;

    /** Open addressing, a power of two in length, never more than half full. */
    private final @Nullable HostRules[] hosts;

    private final HostRules otherHosts;

    private RemapTable(List<RemapRuleConfig> configs) {
        PathTrie withoutHost = new PathTrie();
        otherHosts = new HostRules(new byte[0], withoutHost);
        hosts = new HostRules[Math.max(2, Integer.highestOneBit(Math.max(1, configs.size())) * 4)];
        List<RemapRule> all = new ArrayList<>();
        for (RemapRuleConfig config : configs) {
            RemapRule rule = new RemapRule(config);
            all.add(rule);
            RuleUrl from = config.map();
            if (from.host() == null) {
                withoutHost.add(rule.fromPath(), rule);
            } else {
                byte[] host = from.host().getBytes(StandardCharsets.ISO_8859_1);
                int slot = slotOf(host, 0, host.length);
                HostRules hostRules = hosts[slot];
                if (hostRules == null) {
                    hostRules = new HostRules(host, withoutHost);
                    hosts[slot] = hostRules;
                }
                hostRules.add("https".equals(from.scheme()), from.port(), rule);
            }
        }
        rules = List.copyOf(all);
    }

    /** The table of a configuration. */
    public static RemapTable of(ProxyConfig config) {
        return new RemapTable(config.remap());
    }

    /** In the order of the configuration. */
    public List<RemapRule> rules() {
        return rules;
    }

    /** Finds the rule for a URL; one in asterisk form, which has no path, goes where the host's root goes. Allocates nothing. */
    public RemapResult match(TargetUri target) {
        byte[] host = target.hostBytes();
        if (target.form() == TargetUri.Form.ASTERISK) {
            return host(host, 0, host.length).match(target.isSecure(), target.port(), ROOT, 0, ROOT.length);
        }
        return host(host, 0, host.length)
                .match(target.isSecure(), target.port(), target.targetBytes(), target.pathStart(), target.pathEnd());
    }

    /** The primary key of a client's URL as its rule makes it; that of the URL itself where no rule maps it. */
    public CacheKey key(TargetUri target) {
        return match(target) instanceof Mapped mapped ? mapped.key(target) : CacheKey.of(target);
    }

    /** The URL that a client's URL is stored for; the URL itself where no rule maps it. */
    public TargetUri keyUrl(TargetUri target) {
        return match(target) instanceof Mapped mapped ? mapped.keyUrl(target) : target;
    }

    /**
     * The rules that may map URLs of a URL's host, in either scheme: those that name it, and those without a host unless rules
     * for the host leave nothing to them.
     */
    public List<RemapRule> rulesUnder(TargetUri url) {
        boolean leftOver = isLeftToOthers(url) || isLeftToOthers(url.inOtherScheme());
        List<RemapRule> found = new ArrayList<>();
        for (RemapRule rule : rules) {
            String host = rule.config().map().host();
            if (host == null ? leftOver : host.equals(url.host())) {
                found.add(rule);
            }
        }
        return found;
    }

    /** The rules of which anything is invalidated with all of a URL's host: those under it, and those that share a key's host. */
    public Set<RemapRule> rulesConcernedBy(TargetUri url) {
        Set<RemapRule> concerned = new LinkedHashSet<>(rulesUnder(url));
        Set<String> hosts = new HashSet<>();
        hosts.add(url.host());
        for (RemapRule rule : List.copyOf(concerned)) {
            TargetUri key = rule.keyUrl(url);
            if (hosts.add(key.host())) {
                concerned.addAll(rulesUnder(key));
            }
        }
        for (RemapRule rule : rules) {
            String keyHost = rule.config().cache().settings().key().host();
            if (keyHost != null && hosts.contains(keyHost)) {
                concerned.add(rule);
            }
        }
        return concerned;
    }

    private boolean isLeftToOthers(TargetUri url) {
        byte[] host = url.hostBytes();
        RemapResult root = host(host, 0, host.length).match(url.isSecure(), url.port(), ROOT, 0, ROOT.length);
        return !(root instanceof Mapped mapped) || mapped.rule().config().map().host() == null;
    }

    /**
     * The rules that may match requests for a host, in whatever letters it is written. Allocates nothing.
     *
     * @param bytes holds the host, without port, an IPv6 address in its brackets; borrowed
     */
    public HostRules host(byte[] bytes, int from, int to) {
        HostRules found = hosts[slotOf(bytes, from, to)];
        return found == null ? otherHosts : found;
    }

    /** The slot of the host, or the empty one where it would stand. */
    private int slotOf(byte[] bytes, int from, int to) {
        int hash = 0;
        for (int i = from; i < to; i++) {
            hash = 31 * hash + lower(bytes[i]);
        }
        int mask = hosts.length - 1;
        int slot = (hash ^ hash >>> 15) & mask;
        while (true) {
            HostRules candidate = hosts[slot];
            if (candidate == null || equalsIgnoreCase(candidate.host(), bytes, from, to)) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    private static boolean equalsIgnoreCase(byte[] host, byte[] bytes, int from, int to) {
        if (host.length != to - from) {
            return false;
        }
        for (int i = 0; i < host.length; i++) {
            if (host[i] != lower(bytes[from + i])) {
                return false;
            }
        }
        return true;
    }

    private static int lower(byte b) {
        return b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b;
    }
}
