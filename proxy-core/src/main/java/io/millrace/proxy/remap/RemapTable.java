package io.millrace.proxy.remap;

import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.http.TargetUri;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All remap rules of a configuration, with a lookup of the rule for a URL. A lookup hashes the host and reads the
 * path once per group of rules. Its cost does not depend on the number of rules.
 *
 * <p>The order of precedence is that of Traffic Server: rules for a received port (the local port of the client's
 * connection), then {@code map} and {@code regex_map}, then redirects, then regex redirects. WebSocket rules are
 * separate, and are searched first for WebSocket requests. Within a group, a rule with a host precedes all rules
 * without a host. Among rules with the same scheme, host and port, the first listed rule whose path is a prefix of the
 * request's path wins. Therefore a rule for {@code /} hides a later rule for {@code /stuff/}. Rules without a port are
 * searched only if no rule with the request's port matches.
 *
 * <p>The result depends only on the URL and the received port. All spellings of a path with the same cache key
 * have the same result. Otherwise a response of one rule's origin could be served for another rule. If the received
 * port matters, it is part of the key.
 *
 * <p>Immutable except for its cache of expression matches.
 */
public final class RemapTable {
    /** Value for an unknown received port. No rule for a received port matches it. */
    public static final int NO_PORT = -1;

    private final List<RemapRule> rules;
    private final @Nullable HostIndex byReceivedPort;
    private final @Nullable HostIndex webSockets;
    private final HostIndex forward;
    private final @Nullable HostIndex redirects;
    private final @Nullable HostIndex regexRedirects;
    private final int[] receivedPorts;
    private final ForwardedHosts forwardedHosts;
    private final boolean forwards;

    private RemapTable(List<RemapRuleConfig> configs, RemapRuleConfig forwardRule, boolean forwards) {
        forwardedHosts = new ForwardedHosts(forwardRule);
        this.forwards = forwards;
        rules = configs.stream().map(RemapRule::new).toList();
        byReceivedPort = index(RemapVerb.Group.RECEIVED_PORT);
        webSockets = index(RemapVerb.Group.WEBSOCKET);
        forward = new HostIndex(of(RemapVerb.Group.FORWARD));
        redirects = index(RemapVerb.Group.REDIRECT);
        regexRedirects = index(RemapVerb.Group.REGEX_REDIRECT);
        Set<Integer> ports = new TreeSet<>();
        of(RemapVerb.Group.RECEIVED_PORT)
                .forEach(rule -> ports.add(rule.config().from().port()));
        receivedPorts = ports.stream().mapToInt(Integer::intValue).toArray();
    }

    private List<RemapRule> of(RemapVerb.Group group) {
        return rules.stream().filter(rule -> rule.config().group() == group).toList();
    }

    private @Nullable HostIndex index(RemapVerb.Group group) {
        List<RemapRule> members = of(group);
        return members.isEmpty() ? null : new HostIndex(members);
    }

    /** Returns the table of a configuration. */
    public static RemapTable of(ProxyConfig config) {
        return new RemapTable(
                config.remap(), config.forwardRule(), config.forwardProxy().enabled());
    }

    /** Returns true if the forward proxy maps hosts without a rule. */
    public boolean forwards() {
        return forwards;
    }

    /** The rules in the order of the configuration. */
    public List<RemapRule> rules() {
        return rules;
    }

    /** Returns the result for a URL. Ignores rules for a received port. */
    public RemapResult match(TargetUri target) {
        return match(target, NO_PORT);
    }

    /**
     * Returns the result for a request. A target in asterisk form ({@code *}) has no path, and is matched as the
     * path {@code /}. Allocates only if there are host expressions and the host was not requested recently.
     *
     * @param receivedPort the local port of the connection, or {@link #NO_PORT}
     */
    public RemapResult match(TargetUri target, int receivedPort) {
        if (byReceivedPort != null && receivedPort > 0) {
            RemapResult found = byReceivedPort.match(target, receivedPort);
            if (found != NotMapped.NO_RULE) {
                return found;
            }
        }
        RemapResult found = forward.match(target, target.port());
        return found == NotMapped.NO_RULE ? redirected(target) : found;
    }

    /**
     * Returns the result of the WebSocket rules for a WebSocket request. If it is {@link NotMapped}, the caller
     * searches the other rules.
     */
    public RemapResult matchWebSocket(TargetUri target) {
        return webSockets == null ? NotMapped.NO_RULE : webSockets.match(target, target.port());
    }

    /**
     * Returns the result of the forward proxy for an unmapped request in absolute form. The caller has checked
     * that the client may use the forward proxy.
     */
    public RemapResult forwarded(TargetUri target) {
        return forwards && hasHost(target) ? forwardedHosts.of(target) : NotMapped.NO_RULE;
    }

    private static boolean hasHost(TargetUri target) {
        return target.hostBytes().length > 0;
    }

    private RemapResult redirected(TargetUri target) {
        RemapResult found = NotMapped.NO_RULE;
        if (target.form() == TargetUri.Form.ASTERISK) {
            return found;
        }
        if (redirects != null) {
            found = redirects.match(target, target.port());
        }
        if (regexRedirects != null && found == NotMapped.NO_RULE) {
            found = regexRedirects.match(target, target.port());
        }
        return found;
    }

    /**
     * Returns all possible mappings of a URL. These are the mapping without a received port, and one for each received
     * port that rules name.
     */
    public List<Mapped> matches(TargetUri target) {
        List<Mapped> found = new ArrayList<>(1);
        if (match(target) instanceof Mapped mapped) {
            found.add(mapped);
        }
        if (byReceivedPort != null) {
            for (int port : receivedPorts) {
                if (byReceivedPort.match(target, port) instanceof Mapped mapped) {
                    found.add(mapped);
                }
            }
        }
        return found;
    }

    /**
     * Returns all primary keys that a client's URL may have. If no rule maps the URL, these are the keys of the
     * URL itself and of a forwarded request. Responses of forwarded requests may still be stored although the
     * forward proxy is disabled now.
     */
    public List<CacheKey> keys(TargetUri target) {
        List<Mapped> found = matches(target);
        if (!found.isEmpty()) {
            return found.stream().map(mapped -> mapped.key(target)).toList();
        }
        CacheKey keyOfUrl = CacheKey.of(target);
        return hasHost(target) ? List.of(keyOfUrl, forwardedHosts.of(target).key(target)) : List.of(keyOfUrl);
    }

    /** Returns the URL for the cache key of a client's URL; the URL itself if no rule maps it. */
    public TargetUri keyUrl(TargetUri target) {
        List<Mapped> found = matches(target);
        if (found.isEmpty() && forwarded(target) instanceof Mapped forwardedRule) {
            return forwardedRule.keyUrl(target);
        }
        return found.isEmpty() ? target : found.get(0).keyUrl(target);
    }

    /**
     * Returns the rules that may map URLs of a URL's host, over http or https. These are the rules with this host
     * or a matching expression. Rules without a host are included if they may map some URL of the host.
     */
    public List<RemapRule> rulesUnder(TargetUri url) {
        boolean hostlessRulesApply = mayUseHostlessRules(url) || mayUseHostlessRules(url.inOtherScheme());
        List<RemapRule> found = new ArrayList<>();
        for (RemapRule rule : rules) {
            if (rule.isForHost(url.host(), hostlessRulesApply)) {
                found.add(rule);
            }
        }
        return found;
    }

    /**
     * Returns the rules whose responses a purge of the URL's host affects. These are the rules under the host,
     * and rules with the same host in their cache keys.
     */
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

    /**
     * Returns the rules whose responses a purge by tag on these sites affects. A rule without a site belongs to the
     * site of the host in its cache keys.
     */
    public Set<RemapRule> rulesConcernedBySites(Set<String> sites) {
        Set<RemapRule> concerned = new LinkedHashSet<>(rulesOfSites(sites));
        for (String site : sites) {
            if (TargetUri.parseAbsolute("http://" + site + "/") instanceof TargetUri host) {
                for (RemapRule rule : rulesConcernedBy(host)) {
                    if (rule.config().site() == null) {
                        concerned.add(rule);
                    }
                }
            }
        }
        return concerned;
    }

    /** Returns the rules that name one of these sites. */
    public List<RemapRule> rulesOfSites(Set<String> sites) {
        List<RemapRule> found = new ArrayList<>();
        for (RemapRule rule : rules) {
            String site = rule.config().site();
            if (site != null && sites.contains(site)) {
                found.add(rule);
            }
        }
        return found;
    }

    private boolean mayUseHostlessRules(TargetUri url) {
        return !(forward.matchRoot(url) instanceof Mapped mapped)
                || mapped.rule().config().from().host() == null;
    }
}
